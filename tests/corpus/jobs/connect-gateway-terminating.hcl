job "j" {
  group "g" {
    service {
      name = "out"
      connect {
        gateway {
          terminating {
            service {
              name      = "billing"
              ca_file   = "/ca.pem"
              cert_file = "/cert.pem"
              key_file  = "/key.pem"
              sni       = "billing.example.com"
            }
          }
        }
      }
    }
    service {
      name = "between"
      connect {
        gateway {
          mesh {}
        }
      }
    }
    task "t" { driver = "mock_driver" }
  }
}
