job "often" {
  type = "sysbatch"
  periodic {
    enabled = false
    crons = [
      "*/15 * * * *",
      "0 0 1 1 * 2030",
      "@weekly",
    ]
  }
  group "g" {
    task "t" { driver = "mock_driver" }
  }
}
