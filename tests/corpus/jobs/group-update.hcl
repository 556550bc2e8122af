job "j" {
  update {
    max_parallel = 3
  }
  group "canary" {
    update {
      canary       = 2
      auto_promote = true
    }
    task "t" { driver = "mock_driver" }
  }
  group "slow" {
    update {
      stagger           = "45s"
      min_healthy_time  = "1m"
      healthy_deadline  = "10m"
      progress_deadline = 0
      health_check      = "manual"
      auto_revert       = true
    }
    task "t" { driver = "mock_driver" }
  }
}
