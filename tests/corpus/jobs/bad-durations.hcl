job "j" {
  group "g" {
    shutdown_delay = "5 s"
    restart {
      interval = "soon"
      delay    = "10"
    }
    update {
      min_healthy_time = 1.5
      healthy_deadline = true
    }
    task "t" {}
  }
}
