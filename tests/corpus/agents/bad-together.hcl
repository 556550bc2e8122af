data_dir = "relative"
plugin_dir = "p"
datacenter = "dc*"
region = "a\u0000b"
server {
  bootstrap_expect = 1
  job_default_priority = 90
  job_max_priority = 80
}
client {
  enabled = true
  state_dir = "s"
  alloc_dir = "a"
  node_pool = "all"
  min_dynamic_port = 9000
  max_dynamic_port = 8000
  reserved { reserved_ports = "22,x" }
  host_network "n" { reserved_ports = "9-8" }
  host_volume "v" { }
  meta { "a b" = "1" }
}
