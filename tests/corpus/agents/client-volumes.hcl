data_dir = "/d"
server { enabled = true }
client {
  enabled = true
  host_volume "certificates" {
    path      = "/etc/ssl"
    read_only = true
  }
  host_volume "data" { path = "/srv/data" }
  host_volumes_dir       = "/srv/volumes"
  host_volume_plugin_dir = "/opt/volume-plugins"
  common_plugin_dir      = "/opt/common-plugins"
  alloc_mounts_dir       = "/srv/mounts"
}
