job "j" {
  group "g" {
    task "t" {
      driver = "mock_driver"
      secret "db" {
        provider = "nomad"
        path     = "nomad/jobs/j"
        config {
          namespace = "default"
        }
        env {
          REGION = "eu"
        }
      }
      env {
        PASSWORD = "${secret.db.password}"
      }
    }
  }
}
