job "j" {
  group "g" {
    task "block" {
      driver = "mock_driver"
      env {
        A    = "a"
        PORT = "${NOMAD_PORT_http}"
      }
    }
    task "attribute" {
      driver = "mock_driver"
      env = {
        "with.dot" = "b"
        NUMBER     = 007
      }
    }
    task "computed" {
      driver = "mock_driver"
      env    = merge({ A = "1" }, { for n in ["x", "y"] : upper(n) => n })
    }
  }
}
