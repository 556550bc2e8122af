job "j" {
  group "g" {
    task "t" {
      driver = "mock_driver"
      config {
        text = "one line"
      }
    }
  }
}
