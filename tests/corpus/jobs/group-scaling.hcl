job "j" {
  group "elastic" {
    scaling {
      min     = 2
      max     = 10
      enabled = false
      type    = "horizontal"
      policy {
        cooldown            = "2m"
        evaluation_interval = "30s"
        check "load" {
          source = "prometheus"
          query  = "avg(load)"
          strategy "target-value" {
            target = 0.7
          }
        }
      }
    }
    task "t" { driver = "mock_driver" }
  }
}
