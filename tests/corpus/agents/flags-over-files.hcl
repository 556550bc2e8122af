# flags -node n9 -dc dc9 -region r9 -log-level ERROR -data-dir /flag -bind 10.0.0.7 -server=false -client=true -server
data_dir  = "/file"
name      = "file"
log_level = "DEBUG"
server { enabled = true }
