# A small web server. `cargo xtask demo` runs this file against its own registry; with an image from elsewhere:
#   longshore job run -var image=busybox:1.36 examples/web.nomad.hcl
variable "image" {
  type    = string
  default = "127.0.0.1:5001/demo/web:1"
}

job "web" {
  type = "service"

  group "web" {
    count = 1

    network {
      port "http" {
        to = 8080
      }
    }

    update {
      max_parallel     = 1
      min_healthy_time = "1s"
      healthy_deadline = "1m"
    }

    task "server" {
      driver = "docker"

      config {
        image   = var.image
        command = "/bin/sh"
        args = ["-c", <<-SCRIPT
          echo "<h1>Hello from $NOMAD_ALLOC_NAME</h1>" > /local/index.html
          httpd -f -v -p 8080 -h /local &
          trap "kill $!" TERM INT
          echo "serving on port 8080"
          wait
        SCRIPT
        ]
        ports = ["http"]
      }

      resources {
        cpu    = 50
        memory = 32
      }
    }
  }
}
