job "j" {
  group "g" {
    network = { mode = "host" }
    task "t" {
      driver { name = "docker" }
      resources = {}
    }
  }
}
