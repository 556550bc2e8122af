job "j" {
  group "g" {
    service {
      name = "a"
      port = "http"
      check_restart {
        limit           = 3
        grace           = "90s"
        ignore_warnings = true
      }
      check {
        type     = "tcp"
        interval = "10s"
        timeout  = "2s"
      }
      check {
        type     = "http"
        path     = "/"
        interval = "10s"
        timeout  = "2s"
        check_restart {
          limit = 5
        }
      }
    }
    task "t" { driver = "mock_driver" }
  }
}
