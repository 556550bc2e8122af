job "resize" {
  type = "batch"
  parameterized {
    payload       = "required"
    meta_required = ["size"]
    meta_optional = ["quality", "format"]
  }
  group "g" {
    task "t" {
      driver = "mock_driver"
      dispatch_payload {
        file = "picture.png"
      }
    }
  }
}
