job "j" {
  group "g" {
    dynamic "volume" {
      for_each = []
      labels   = [volume.value]
      content {
        type = "host"
      }
    }
    task "t" { driver = "mock_driver" }
  }
}
