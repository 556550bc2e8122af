job "j" {
  group "g" {
    service {
      name                = "full"
      provider            = "consul"
      port                = "http"
      address_mode        = "auto"
      address             = "192.0.2.10"
      tags                = ["v1", "public"]
      canary_tags         = ["canary"]
      enable_tag_override = true
      on_update           = "ignore_warnings"
      kind                = "api-gateway"
      cluster             = "second"
      meta {
        version = "1"
      }
      canary_meta {
        version = "2"
      }
      tagged_addresses {
        wan = "198.51.100.7"
      }
      weights {
        passing = 3
        warning = 1
      }
      identity {
        aud = ["consul.io"]
        ttl = "1h"
      }
    }
    task "t" { driver = "mock_driver" }
  }
}
