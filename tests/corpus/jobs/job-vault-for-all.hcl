job "vaulted" {
  vault {
    policies = ["of-job"]
  }
  group "own" {
    vault {
      policies = ["of-group"]
    }
    task "takes-the-group" { driver = "mock_driver" }
    task "has-its-own" {
      driver = "mock_driver"
      vault {
        policies = ["of-task"]
      }
    }
  }
  group "none" {
    task "takes-the-job" { driver = "mock_driver" }
  }
}
