data_dir = "/d"
server { enabled = true }
client { enabled = true }
plugin "raw_exec" {
  config {
    enabled    = true
    no_cgroups = true
  }
}
plugin "mock_driver" {
  args = ["-loud"]
  config { enabled = true }
}
plugin "java" {
  config { default_pid_mode = "host" }
}
