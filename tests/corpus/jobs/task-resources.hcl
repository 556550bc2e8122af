job "j" {
  group "g" {
    task "usual" {
      driver = "mock_driver"
      resources {
        cpu        = 500
        memory     = 256
        memory_max = 512
        secrets    = 2
      }
    }
    task "cores" {
      driver = "mock_driver"
      resources {
        cores  = 2
        memory = 1024
        numa {
          affinity = "require"
          devices  = ["nvidia/gpu/Tesla"]
        }
      }
    }
    task "legacy" {
      driver = "mock_driver"
      resources {
        disk = 500
        iops = 10
      }
    }
    task "computed" {
      driver = "mock_driver"
      resources {
        cpu    = 2 * 250
        memory = "64"
      }
    }
  }
}
