job "j" {
  group "g" {
    task "migrate" {
      driver = "mock_driver"
      lifecycle {
        hook = "prestart"
      }
    }
    task "proxy" {
      driver = "mock_driver"
      lifecycle {
        hook    = "prestart"
        sidecar = true
      }
    }
    task "announce" {
      driver = "mock_driver"
      lifecycle {
        hook    = "poststart"
        sidecar = false
      }
    }
    task "clean" {
      driver = "mock_driver"
      lifecycle { hook = "poststop" }
    }
    task "main" {
      driver = "mock_driver"
      leader = true
    }
  }
}
