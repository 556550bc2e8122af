job "j" {
  group "g" {
    consul {
      namespace = "team-a"
      cluster   = "second"
      partition = "default"
    }
    task "t" {
      driver = "mock_driver"
      consul {
        namespace = "team-b"
        cluster   = "third"
        partition = "edge"
      }
    }
  }
}
