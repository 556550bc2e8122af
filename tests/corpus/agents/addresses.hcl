data_dir = "/d"
bind_addr = "{{ GetInterfaceIP \"eth0\" }}"
ports {
  http = 5646
  rpc  = 5647
  serf = 5648
}
addresses {
  http = "127.0.0.1"
  rpc  = "10.0.0.7"
  serf = "10.0.0.7"
}
advertise {
  http = "198.51.100.4:80"
  rpc  = "198.51.100.4"
  serf = "198.51.100.4"
}
server { enabled = true }
