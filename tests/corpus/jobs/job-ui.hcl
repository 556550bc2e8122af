job "pretty" {
  ui {
    description = "A **web** shop."
    link {
      label = "Handbook"
      url   = "https://example.com/handbook"
    }
    link {
      label = "Graphs"
      url   = "https://example.com/graphs"
    }
  }
  group "g" {
    task "t" { driver = "mock_driver" }
  }
}
