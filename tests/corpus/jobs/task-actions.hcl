job "j" {
  group "g" {
    task "t" {
      driver = "mock_driver"
      action "flush" {
        command = "/bin/flush"
        args    = ["-all", "${NOMAD_TASK_DIR}"]
      }
      action "ping" {
        command = "/bin/ping"
      }
    }
  }
}
