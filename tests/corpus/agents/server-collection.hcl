data_dir = "/d"
server {
  enabled                       = true
  node_gc_threshold             = "48h"
  job_gc_interval               = "2m30s"
  job_gc_threshold              = "8h"
  eval_gc_threshold             = "30m"
  batch_eval_gc_threshold       = "12h"
  deployment_gc_threshold       = "90m"
  csi_volume_claim_gc_interval  = "10m"
  csi_volume_claim_gc_threshold = "15m"
  csi_plugin_gc_threshold       = "2h"
  acl_token_gc_threshold        = "2h"
  root_key_gc_interval          = "20m"
  root_key_gc_threshold         = "2h"
  root_key_rotation_threshold   = "240h"
  heartbeat_grace               = "20s"
  min_heartbeat_ttl             = "15s"
  failover_heartbeat_ttl        = "10m"
  max_heartbeats_per_second     = 12.5
}
