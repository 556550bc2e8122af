data_dir = "/d"
server {
  enabled = true
}
