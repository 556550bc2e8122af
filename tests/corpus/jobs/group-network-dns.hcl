job "j" {
  group "g" {
    network {
      dns {
        servers  = ["10.0.0.53", "10.0.1.53"]
        searches = ["example.com"]
        options  = ["ndots:2", "rotate"]
      }
    }
    task "t" { driver = "mock_driver" }
  }
}
