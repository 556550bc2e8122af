job "j" {
  group "g" {
    service {
      name = "native"
      task = "t"
      connect {
        native = true
      }
    }
    task "t" { driver = "mock_driver" }
  }
}
