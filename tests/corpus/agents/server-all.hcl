data_dir = "/d"
server {
  enabled              = true
  bootstrap_expect     = 1
  data_dir             = "/srv/longshore"
  authoritative_region = "eu"
  encrypt              = "MDEyMzQ1Njc4OWFiY2RlZg=="
  protocol_version     = 1
  raft_protocol        = 3
  raft_multiplier      = 3
  raft_boltdb { no_freelist_sync = true }
  raft_logstore {
    backend           = "wal"
    disable_log_cache = true
    wal { segment_size_mb = 64 }
    boltdb { no_freelist_sync = true }
    verification {
      enabled  = true
      interval = "1m"
    }
  }
  raft_snapshot_threshold = 4096
  raft_snapshot_interval  = "60s"
  raft_trailing_logs      = 2048
  num_schedulers          = 2
  enabled_schedulers      = ["service", "batch"]
  rejoin_after_leave      = true
  retry_max               = 3
  retry_interval          = "15s"
  start_join              = []
  retry_join              = []
  server_join {
    start_join     = []
    retry_join     = []
    retry_max      = 5
    retry_interval = "10s"
  }
  license_path      = "/etc/license"
  non_voting_server = true
  redundancy_zone   = "a"
  upgrade_version   = "1.2.3"
  non_production    = true
  job_max_count     = 50
  oidc_issuer       = "https://longshore.example"
  start_timeout     = "45s"
  plan_apply_pipeline = true
  log_file          = "/var/log/server"
  client_introduction {
    enforcement          = "strict"
    default_identity_ttl = "2m"
    max_identity_ttl     = "10m"
  }
}
