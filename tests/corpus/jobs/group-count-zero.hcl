# Zero is not the same as nothing.
job "j" {
  group "none" {
    count          = 0
    shutdown_delay = 0
    task "t" { driver = "mock_driver" }
  }
  group "unsaid" {
    task "t" { driver = "mock_driver" }
  }
}
