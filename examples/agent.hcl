# A server and a client in one process, for a first look. Images go ten seconds after their last use here, so that one can
# watch it; without the `gc` block it is three minutes.
data_dir  = "/var/lib/longshore"
bind_addr = "127.0.0.1"

advertise {
  http = "127.0.0.1"
  rpc  = "127.0.0.1"
  serf = "127.0.0.1"
}

server {
  enabled          = true
  bootstrap_expect = 1
}

client {
  enabled           = true
  network_interface = "lo"
}

plugin "docker" {
  config {
    gc {
      image_delay = "10s"
    }
  }
}
