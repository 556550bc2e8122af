job "many" {
  group "z" {
    count = 1
    task "t" { driver = "mock_driver" }
  }
  group "a" {
    count = 2
    task "t" { driver = "mock_driver" }
    task "s" { driver = "mock_driver" }
  }
}
