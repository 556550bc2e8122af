job "j" {
  spread {
    attribute = "${node.datacenter}"
    weight    = 80
    target "dc1" {
      percent = 70
    }
    target "dc2" {
      percent = 30
    }
  }
  group "g" {
    spread {
      attribute = "${meta.rack}"
    }
    task "t" { driver = "mock_driver" }
  }
}
