# Policies of the job hold for groups that say nothing.
job "policies" {
  update {
    stagger           = "1m"
    max_parallel      = 2
    health_check      = "task_states"
    min_healthy_time  = "5s"
    healthy_deadline  = "2m"
    progress_deadline = "20m"
    auto_revert       = true
    auto_promote      = true
    canary            = 1
  }
  reschedule {
    attempts       = 3
    interval       = "1h"
    delay          = "10s"
    delay_function = "fibonacci"
    max_delay      = "5m"
    unlimited      = false
  }
  migrate {
    max_parallel     = 3
    health_check     = "checks"
    min_healthy_time = "15s"
    healthy_deadline = "3m"
  }
  group "g" {
    task "t" { driver = "mock_driver" }
  }
}
