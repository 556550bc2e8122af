data_dir = "/d"
server { enabled = true }
acl {
  enabled           = false
  token_ttl         = "1m"
  policy_ttl        = "2m"
  role_ttl          = "3m"
  replication_token = "s3cret-replication"
  token_min_expiration_ttl = "2m"
  token_max_expiration_ttl = "48h"
}
tls {
  http = false
  rpc  = false
  verify_server_hostname = false
  verify_https_client    = false
  ca_file   = "/ca.pem"
  cert_file = "/cert.pem"
  key_file  = "/key.pem"
  rpc_upgrade_mode  = true
  tls_min_version   = "tls13"
  tls_cipher_suites = "TLS_AES_128_GCM_SHA256"
  tls_prefer_server_cipher_suites = true
}
audit {
  enabled = false
  sink "file" { type = "file" }
  filter "x" { type = "HTTPEvent" }
}
limits {
  https_handshake_timeout   = "10s"
  http_max_conns_per_client = 0
  rpc_handshake_timeout     = "11s"
  rpc_max_conns_per_client  = 200
}
