# -loose
# -var nobody=asks
job "j" {
  group "g" {
    task "t" { driver = "mock_driver" }
  }
}
