job "j" {
  group "g" {
    network {
      port "http" { to = 80 }
    }
    task "t" {
      driver = "docker"
      config {
        image              = "registry.example.com/shop/web:${var.tag}"
        ports              = ["http"]
        args               = ["-listen", "${NOMAD_ADDR_http}"]
        image_pull_timeout = "10m"
        force_pull         = false
        labels = {
          team = "blue"
        }
        auth {
          username       = "me"
          password       = "secret"
          server_address = "registry.example.com"
        }
        ulimit {
          nofile = "1024:2048"
          nproc  = 4242
        }
        sysctl = {
          "net.core.somaxconn" = "16384"
        }
        logging {
          type = "json-file"
          config {
            max-size = "10m"
            tag      = "x"
          }
        }
      }
    }
  }
}
variable "tag" {
  default = "latest"
}
