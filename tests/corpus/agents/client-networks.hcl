data_dir = "/d"
server { enabled = true }
client {
  enabled = true
  bind_wildcard_default_host_network = false
  cni_path       = "/opt/cni/bin:/usr/lib/cni"
  cni_config_dir = "/etc/cni"
  bridge_network_name         = "lsbr"
  bridge_network_subnet       = "172.30.0.0/20"
  bridge_network_subnet_ipv6  = "fd00::/64"
  bridge_network_hairpin_mode = true
  host_network "public" {
    cidr           = "203.0.113.0/24"
    reserved_ports = "22,80"
  }
  host_network "private" {
    interface = "eth1"
  }
}
