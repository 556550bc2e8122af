job "j" {
  group "g" {
    restart {
      attempts         = 5
      interval         = "10m"
      delay            = "25s"
      mode             = "delay"
      render_templates = true
    }
    task "inherits" { driver = "mock_driver" }
    task "differs" {
      driver = "mock_driver"
      restart {
        attempts = 0
        mode     = "fail"
      }
    }
  }
}
