data_dir = "/d"
server { enabled = true }
client { enabled = true }
plugin "docker" {
  config {
    allow_privileged = true
    gc { image_delay = "2h" }
  }
}
