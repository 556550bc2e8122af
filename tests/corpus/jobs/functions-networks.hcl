job "j" {
  group "g" {
    task "t" {
      driver = "mock_driver"
      config {
        cidrhost    = cidrhost("10.12.112.0/20", 268)
        cidrnetmask = cidrnetmask("172.16.0.0/12")
        cidrsubnet  = cidrsubnet("fd00:fd12:3456:7890::/56", 16, 162)
        cidrsubnets = cidrsubnets("10.1.0.0/16", 4, 4, 8, 4)
      }
    }
  }
}
