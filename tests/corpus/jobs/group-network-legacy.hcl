job "j" {
  group "g" {
    network {
      mbits  = 10
      device = "eth0"
      cidr   = "10.0.0.0/8"
      ip     = "10.1.2.3"
    }
    task "t" {
      driver = "mock_driver"
      resources {
        network {
          mbits = 20
          port "old" { static = 1234 }
        }
      }
    }
  }
}
