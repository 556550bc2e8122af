job "j" {
  group "g" {
    task "some" {
      driver = "mock_driver"
      logs {
        max_files     = 3
        max_file_size = 4
      }
    }
    task "none" {
      driver = "mock_driver"
      logs {
        disabled = true
      }
    }
    task "legacy" {
      driver = "mock_driver"
      logs {
        enabled = false
      }
    }
  }
}
