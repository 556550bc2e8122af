job "web" {
  group "web" {
    network { port "http" { to = 8080 } }
    task "web" {
      driver = "docker"
    }
  }
}
