data_dir  = "/d"
bind_addr = "127.0.0.1"
server { enabled = true }
