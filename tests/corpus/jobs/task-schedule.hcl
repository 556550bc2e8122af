job "j" {
  group "g" {
    task "t" {
      driver = "mock_driver"
      schedule {
        cron {
          start    = "0 30 13 * * MON-FRI *"
          end      = "0 21"
          timezone = "America/New_York"
        }
      }
    }
  }
}
