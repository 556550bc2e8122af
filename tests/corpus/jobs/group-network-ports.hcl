job "j" {
  group "g" {
    network {
      mode     = "bridge"
      hostname = "web-${NOMAD_ALLOC_INDEX}"
      port "http" {
        to = 8080
      }
      port "admin" {
        static       = 9901
        host_network = "inside"
      }
      port "same" {
        to = -1
      }
      port "shared" {
        static           = 8500
        to               = 8500
        ignore_collision = true
      }
      port "plain" {}
    }
    task "t" { driver = "mock_driver" }
  }
}
