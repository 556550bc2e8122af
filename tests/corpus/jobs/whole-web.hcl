# A shop front with a rolling update behind a load balancer.
variable "version" {
  type    = string
  default = "2.4.1"
}
job "shop-front" {
  datacenters = ["fra", "ams"]
  priority    = 60
  update {
    max_parallel     = 2
    min_healthy_time = "15s"
    auto_revert      = true
  }
  group "front" {
    count = 6
    network {
      port "http" { to = 8080 }
    }
    service {
      name     = "shop-front"
      provider = "nomad"
      port     = "http"
      tags     = ["http", "v${replace(var.version, ".", "-")}"]
      check {
        type     = "http"
        path     = "/ready"
        interval = "5s"
        timeout  = "2s"
      }
    }
    spread {
      attribute = "${node.datacenter}"
    }
    task "server" {
      driver = "docker"
      config {
        image = "registry.example.com/shop/front:${var.version}"
        ports = ["http"]
      }
      env {
        LISTEN  = ":8080"
        RELEASE = var.version
      }
      resources {
        cpu    = 400
        memory = 256
      }
    }
  }
}
