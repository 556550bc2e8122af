job "nightly" {
  type = "batch"
  periodic {
    cron             = "15 2 * * *"
    prohibit_overlap = true
    time_zone        = "Europe/Berlin"
  }
  group "g" {
    task "t" { driver = "mock_driver" }
  }
}
