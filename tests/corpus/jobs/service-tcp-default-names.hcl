job "j" {
  group "cache" {
    service {
      provider = "nomad"
      port     = "6379"
      check {
        type     = "tcp"
        interval = "5s"
        timeout  = "1s"
      }
    }
    task "t" {
      driver = "mock_driver"
      service {
        name     = "${JOB}-${TASKGROUP}-${TASK}-inner"
        provider = "nomad"
      }
    }
  }
}
