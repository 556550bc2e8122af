job "j" {
  group "g" {
    task "t" {
      driver = "mock_driver"
      vault {
        policies               = ["read", "write"]
        namespace              = "ns"
        env                    = false
        disable_file           = true
        change_mode            = "signal"
        change_signal          = "SIGUSR1"
        role                   = "web"
        cluster                = "main"
        allow_token_expiration = true
      }
    }
  }
}
