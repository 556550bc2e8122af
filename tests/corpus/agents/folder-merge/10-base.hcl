data_dir = "/d"
region   = "one"
server { enabled = true }
client {
  enabled = true
  meta {
    rack = "r1"
    zone = "z1"
  }
  host_volume "v" {
    path      = "/first"
    read_only = true
  }
}
