job "j" {
  group "g" {
    service {
      name = "api"
      port = "http"
      check {
        type     = "http"
        path     = "/query"
        method   = "POST"
        body     = jsonencode({ ping = "pong" })
        interval = "1m"
        timeout  = 5000000000
        expose   = true
      }
    }
    task "t" { driver = "mock_driver" }
  }
}
