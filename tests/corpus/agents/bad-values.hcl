# flags -dev
log_level = "loud"
ports { http = 70000 }
server {
  job_gc_interval     = "5 minutes"
  raft_multiplier     = 11
  job_max_source_size = "1X"
  num_schedulers      = "many"
  encrypt             = "c2hvcnQ="
}
client {
  enabled      = "maybe"
  gc_max_allocs = -1
  max_kill_timeout = 30
  servers      = [["a"]]
  meta         = 3
  artifact { git_timeout = "soon" }
}
limits { http_max_conns_per_client = -1 }
