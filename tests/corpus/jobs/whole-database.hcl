job "database" {
  namespace = "data"
  group "postgres" {
    count = 1
    volume "data" {
      type            = "csi"
      source          = "postgres"
      access_mode     = "single-node-writer"
      attachment_mode = "file-system"
    }
    network {
      mode = "bridge"
      port "db" {
        static = 5432
      }
    }
    restart {
      attempts = 10
      interval = "5m"
      delay    = "25s"
      mode     = "delay"
    }
    task "server" {
      driver = "docker"
      kill_signal  = "SIGINT"
      kill_timeout = "1m"
      volume_mount {
        volume      = "data"
        destination = "/var/lib/postgresql/data"
      }
      template {
        data        = <<-EOT
          POSTGRES_PASSWORD={{ with nomadVar "nomad/jobs/database" }}{{ .password }}{{ end }}
        EOT
        destination = "secrets/env"
        env         = true
      }
      config {
        image = "postgres:16"
        ports = ["db"]
        shm_size = pow(2, 28)
      }
      resources {
        cores      = 2
        memory     = 4096
        memory_max = 6144
      }
    }
  }
}
