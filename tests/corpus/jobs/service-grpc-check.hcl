job "j" {
  group "g" {
    service {
      name = "api"
      port = "grpc"
      check {
        type            = "grpc"
        grpc_service    = "api.v1"
        grpc_use_tls    = true
        tls_skip_verify = true
        tls_server_name = "api.example.com"
        address_mode    = "alloc"
        port            = "health"
        interval        = "15s"
        timeout         = "3s"
      }
    }
    task "t" { driver = "mock_driver" }
  }
}
