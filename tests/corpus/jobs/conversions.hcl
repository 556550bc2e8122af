# Texts become numbers and truths, and the other way round, where the place asks for it.
job "j" {
  priority    = "60"
  all_at_once = "true"
  meta {
    number = 1.0
    truth  = true
  }
  group "g" {
    count = "2"
    task "t" {
      driver       = "mock_driver"
      kill_timeout = 3000000000
      leader       = "false"
      config {
        stays = "60"
      }
      resources {
        cpu = 1e3
      }
    }
  }
}
