data_dir = "/d"
server { enabled = true }
client { enabled = true }
plugin "docker" {
  config {
    tls {
      cert = "/c"
      key  = "/k"
      ca   = "/a"
    }
  }
}
