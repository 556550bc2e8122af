job "j" {
  group "g" {
    ephemeral_disk {
      size    = 1024
      sticky  = true
      migrate = true
    }
    task "t" { driver = "mock_driver" }
  }
}
