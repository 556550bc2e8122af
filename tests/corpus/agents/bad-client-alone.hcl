data_dir = "/d"
client {
  enabled = true
  servers = ["10.0.0.1"]
}
