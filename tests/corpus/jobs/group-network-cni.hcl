job "j" {
  group "g" {
    network {
      mode = "cni/mynet"
      cni {
        args = {
          NOMAD_VLAN = 17
          purpose    = "test"
        }
      }
    }
    task "t" { driver = "mock_driver" }
  }
}
