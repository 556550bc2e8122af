job "j" {
  type = "batch"
  group "limited" {
    reschedule {
      attempts       = 15
      interval       = "1h"
      delay          = "30s"
      delay_function = "exponential"
      max_delay      = "120s"
      unlimited      = false
    }
    task "t" { driver = "mock_driver" }
  }
  group "never" {
    reschedule {
      attempts  = 0
      unlimited = false
    }
    task "t" { driver = "mock_driver" }
  }
}
