job "j" {
  group "g" {
    service {
      name = "db"
      task = "postgres"
      port = "db"
      check {
        name                     = "ready"
        type                     = "script"
        command                  = "/usr/bin/pg_isready"
        args                     = ["-q"]
        task                     = "postgres"
        interval                 = "30s"
        timeout                  = "5s"
        initial_status           = "passing"
        success_before_passing   = 2
        failures_before_critical = 3
        failures_before_warning  = 1
        on_update                = "ignore"
        notes                    = "Asks the server itself."
      }
    }
    task "postgres" { driver = "mock_driver" }
  }
}
