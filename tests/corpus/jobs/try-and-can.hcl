locals {
  settings = { web = { port = 80 } }
}
job "j" {
  meta {
    there     = try(local.settings.web.port, 1)
    missing   = try(local.settings.db.port, "none")
    broken    = try(1 / 0, upper([]), "last")
    can_there = can(local.settings.web)
    can_not   = can(local.settings.db)
  }
  group "g" {
    task "t" { driver = "mock_driver" }
  }
}
