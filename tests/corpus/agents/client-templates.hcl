data_dir = "/d"
server { enabled = true }
client {
  enabled = true
  template {
    function_denylist    = ["plugin"]
    function_blacklist   = ["writeToFile"]
    disable_file_sandbox = true
    max_stale            = "24h"
    block_query_wait     = "1m"
    wait {
      enabled = true
      min     = "10s"
      max     = "2m"
    }
    wait_bounds {
      enabled = true
      min     = "1s"
      max     = "5m"
    }
    consul_retry {
      attempts    = 5
      backoff     = "500ms"
      max_backoff = "30s"
    }
    vault_retry {
      attempts    = 6
      backoff     = "600ms"
      max_backoff = "40s"
    }
    nomad_retry {
      attempts    = 0
      backoff     = "700ms"
      max_backoff = "50s"
    }
  }
}
