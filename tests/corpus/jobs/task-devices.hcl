job "j" {
  group "g" {
    task "t" {
      driver = "mock_driver"
      resources {
        device "gpu" {}
        device "nvidia/gpu/Tesla K80" {
          count = 2
          constraint {
            attribute = "${device.attr.memory}"
            operator  = ">="
            value     = "2 GiB"
          }
          affinity {
            attribute = "${device.model}"
            value     = "Tesla K80"
            weight    = 40
          }
        }
      }
    }
  }
}
