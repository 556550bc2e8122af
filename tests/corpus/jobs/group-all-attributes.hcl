job "j" {
  group "full" {
    count                        = 4
    shutdown_delay               = "8s"
    stop_after_client_disconnect = "1h"
    max_client_disconnect        = "2h30m"
    prevent_reschedule_on_lost   = true
    max_run_duration             = "4h"
    meta {
      team = "blue"
    }
    task "t" { driver = "mock_driver" }
  }
}
