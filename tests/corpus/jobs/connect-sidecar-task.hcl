job "j" {
  group "g" {
    service {
      name = "api"
      connect {
        sidecar_service {}
        sidecar_task {
          name           = "proxy"
          driver         = "docker"
          user           = "101"
          kill_timeout   = "10s"
          shutdown_delay = "5s"
          kill_signal    = "SIGTERM"
          config {
            image = "envoyproxy/envoy:v1.27"
          }
          env {
            LOG = "warn"
          }
          meta {
            kind = "proxy"
          }
          resources {
            cpu    = 200
            memory = 64
          }
          logs {
            max_files     = 2
            max_file_size = 2
          }
          volume_mount {
            volume      = "certs"
            destination = "/certs"
          }
        }
      }
    }
    task "t" { driver = "mock_driver" }
  }
}
