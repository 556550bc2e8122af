data_dir = "/d"
server { enabled = true }
client {
  enabled = true
  options {
    "docker.tls.cert" = "/cert"
    "docker.tls.ca"   = "/ca"
    "docker.tls.key"  = "/key"
  }
}
