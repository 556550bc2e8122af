job "j" {
  group "g" {
    network { mode = "bridge" }
    service {
      name = "api"
      port = "9001"
      connect {
        sidecar_service {
          tags                      = ["proxy"]
          port                      = "proxy"
          disable_default_tcp_check = true
          meta {
            side = "car"
          }
          proxy {
            local_service_address = "127.0.0.1"
            local_service_port    = 9001
            config {
              protocol = "http"
            }
            expose {
              path {
                path            = "/metrics"
                protocol        = "http"
                local_path_port = 9001
                listener_port   = "metrics"
              }
            }
            upstreams {
              destination_name       = "counter"
              destination_namespace  = "default"
              destination_peer       = "other"
              destination_partition  = "edge"
              destination_type       = "service"
              local_bind_port        = 8080
              datacenter             = "dc2"
              local_bind_address     = "127.0.0.1"
              local_bind_socket_path = "/tmp/counter.sock"
              local_bind_socket_mode = "0600"
              mesh_gateway {
                mode = "local"
              }
              config {
                connect_timeout_ms = 1500
              }
            }
            upstreams {
              destination_name = "cache"
              local_bind_port  = 6379
            }
          }
        }
      }
    }
    task "t" { driver = "mock_driver" }
  }
}
