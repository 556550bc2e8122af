job "j" {
  group "g" {
    task "t" {
      driver = "mock_driver"
      scaling "cpu" {
        enabled = true
        min     = 50
        max     = 1000
        policy {
          cooldown = "5m"
        }
      }
      scaling "mem" {
        max = 2048
      }
    }
  }
}
