job "j" {
  group "g" {
    service {
      name = "ingress"
      connect {
        gateway {
          proxy {
            connect_timeout                     = "3s"
            envoy_gateway_bind_tagged_addresses = true
            envoy_gateway_no_default_bind       = true
            envoy_dns_discovery_type            = "STRICT_DNS"
            envoy_gateway_bind_addresses "public" {
              address = "0.0.0.0"
              port    = 8443
            }
            config {
              envoy_tracing = "on"
            }
          }
          ingress {
            tls {
              enabled         = true
              tls_min_version = "TLSv1_2"
              tls_max_version = "TLSv1_3"
              cipher_suites   = ["TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"]
            }
            listener {
              port     = 8443
              protocol = "http"
              service {
                name  = "web"
                hosts = ["example.com", "www.example.com"]
              }
            }
          }
        }
      }
    }
    task "t" { driver = "mock_driver" }
  }
}
