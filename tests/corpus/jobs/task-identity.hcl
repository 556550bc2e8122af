job "j" {
  group "g" {
    task "default" {
      driver = "mock_driver"
      identity {
        env  = true
        file = true
      }
    }
    task "several" {
      driver = "mock_driver"
      identity {
        name = "default"
        ttl  = "2h"
      }
      identity {
        name          = "cloud"
        aud           = ["sts.example.com"]
        change_mode   = "signal"
        change_signal = "SIGHUP"
        file          = true
        filepath      = "local/cloud.jwt"
        service_name  = "web"
        ttl           = "1h"
        extra_claims {
          team = "blue"
        }
      }
    }
  }
}
