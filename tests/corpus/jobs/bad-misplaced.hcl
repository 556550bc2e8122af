count = 3
job "j" {
  count = 2
  group "g" {
    driver = "docker"
    memory = 64
    task "t" {
      cpu = 100
      port "http" {}
    }
  }
}
group "outside" {}
