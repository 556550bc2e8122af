data_dir = "/d"
server { enabled = true }
client {
  enabled     = true
  gc_interval = ""
  node_class  = ""
}
plugin "docker" { config { gc { image_delay = "" } } }
