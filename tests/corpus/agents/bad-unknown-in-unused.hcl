# flags -dev
consul { adress = "10.0.0.1:8500" }
ui { label { colour = "red" } }
limits { http_max_conns = 3 }
client { template { wiat { min = "1s" } } }
vault { enabled = true, ttl = "1h" }
