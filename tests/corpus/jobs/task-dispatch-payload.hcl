job "j" {
  type = "batch"
  parameterized {}
  group "g" {
    task "t" {
      driver = "mock_driver"
      dispatch_payload {
        file = "in/order.json"
      }
    }
  }
}
