locals {
  ports = { http = 80, https = 443 }
}
job "j" {
  group "g" {
    network {
      dynamic "port" {
        for_each = local.ports
        labels   = [port.key]
        content {
          to = port.value
        }
      }
    }
    dynamic "service" {
      for_each = ["a", "b"]
      iterator = it
      content {
        name = "svc-${it.key}-${it.value}"
        port = "http"
        dynamic "check" {
          for_each = [for n in range(it.key + 1) : { path = "/${it.value}/${n}" }]
          content {
            type     = "http"
            path     = check.value.path
            interval = "10s"
            timeout  = "2s"
          }
        }
      }
    }
    task "t" { driver = "mock_driver" }
  }
}
