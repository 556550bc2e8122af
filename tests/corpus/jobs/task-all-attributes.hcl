job "j" {
  group "g" {
    task "t" {
      driver         = "docker"
      user           = "nobody"
      kill_timeout   = "20s"
      kill_signal    = "SIGQUIT"
      shutdown_delay = "3s"
      leader         = true
      kind           = "connect-native:web"
      config {
        image = "nginx:1.25"
      }
      env {
        LEVEL = "debug"
        COUNT = 3
        ON    = true
      }
      meta {
        owner = "me"
      }
    }
  }
}
