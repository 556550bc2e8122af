job "j" {
  group "edge" {
    disconnect {
      lost_after = "6h"
      replace    = false
      reconcile  = "keep_original"
    }
    task "t" { driver = "mock_driver" }
  }
  group "careful" {
    disconnect {
      stop_on_client_after = "90s"
    }
    task "t" { driver = "mock_driver" }
  }
}
