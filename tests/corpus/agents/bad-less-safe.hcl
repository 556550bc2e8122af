# flags -dev
acl { enabled = true }
tls {
  http = true
  rpc  = true
  verify_https_client = true
  verify_server_hostname = true
}
audit { enabled = true }
keyring "aead" { active = true }
server {
  bootstrap_expect = 3
  raft_protocol    = 2
  retry_join       = ["10.0.0.1"]
  start_join       = ["10.0.0.2"]
  server_join {
    retry_join = ["10.0.0.3"]
    start_join = ["10.0.0.4"]
  }
}
client { default_ineligible = true }
