data_dir = "/d"
server { enabled = true }
telemetry {
  collection_interval        = "10s"
  prometheus_metrics         = true
  publish_allocation_metrics = true
  publish_node_metrics       = true
  disable_hostname           = true
  use_node_name              = true
  filter_default             = false
  prefix_filter              = ["+a", "-b"]
  statsite_address           = "10.0.0.9:8125"
  statsd_address             = "10.0.0.9:8126"
  datadog_address            = "10.0.0.9:8127"
  datadog_tags               = ["env:test"]
  circonus_api_token         = "s3cret"
  circonus_submission_interval = "10s"
  disable_dispatched_job_summary_metrics = true
  disable_rpc_rate_metrics_labels        = true
  in_memory_collection_interval = "5s"
  in_memory_retention_period    = "5m"
  include_alloc_metadata_in_metrics = true
  allowed_metadata_keys_in_metrics  = ["owner"]
  disable_allocation_hook_metrics   = true
  disable_quota_utilization_metrics = true
}
autopilot {
  cleanup_dead_servers      = false
  last_contact_threshold    = "300ms"
  max_trailing_logs         = 500
  min_quorum                = 3
  server_stabilization_time = "20s"
  enable_redundancy_zones   = true
  disable_upgrade_migration = true
  enable_custom_upgrades    = true
}
