job "j" {
  group "g" {
    migrate {
      max_parallel     = 2
      health_check     = "task_states"
      min_healthy_time = "20s"
      healthy_deadline = "7m30s"
    }
    task "t" { driver = "mock_driver" }
  }
}
