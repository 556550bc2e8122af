job "label" {
  name = "What people call it"
  group "g" {
    task "t" { driver = "mock_driver" }
  }
}
