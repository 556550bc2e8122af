job "tokens" {
  consul_token = "c0ffee"
  vault_token  = "5eed"
  group "g" {
    task "t" { driver = "mock_driver" }
  }
}
