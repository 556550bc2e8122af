job "j" {
  group "g" {
    task "t" {
      driver = "docker"
      config {
        image   = "a:1"
        volumes = ["local/conf:/etc/app:ro"]
        mount {
          type   = "bind"
          source = "local"
          target = "/data"
          bind_options {
            propagation = "rslave"
          }
        }
        mount {
          type   = "tmpfs"
          target = "/scratch"
          tmpfs_options {
            size = 100000
            mode = 511
          }
        }
        devices = [
          {
            host_path      = "/dev/null"
            container_path = "/dev/zero"
          },
        ]
      }
    }
  }
}
