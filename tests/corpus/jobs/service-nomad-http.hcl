job "j" {
  group "web" {
    network {
      port "http" {}
    }
    service {
      name     = "web"
      provider = "nomad"
      port     = "http"
      check {
        type     = "http"
        path     = "/health"
        method   = "HEAD"
        protocol = "https"
        interval = "10s"
        timeout  = "2s"
        header {
          Accept = ["text/plain", "text/html"]
          Host   = ["example.com"]
        }
      }
    }
    task "t" { driver = "mock_driver" }
  }
}
