data_dir = "/d"
server {
  enabled              = true
  job_default_priority = 40
  job_max_priority     = 1000
  job_max_source_size  = "512K"
  job_tracked_versions = 3
  enable_event_broker  = false
  event_buffer_size    = 500
  deploy_query_rate_limit = 50.5
  default_scheduler_config {
    scheduler_algorithm             = "spread"
    memory_oversubscription_enabled = true
    reject_job_registration         = true
    pause_eval_broker               = true
    preemption_config {
      system_scheduler_enabled   = false
      sysbatch_scheduler_enabled = true
      batch_scheduler_enabled    = true
      service_scheduler_enabled  = true
    }
  }
  plan_rejection_tracker {
    enabled        = true
    node_threshold = 15
    node_window    = "10m"
  }
  search {
    fuzzy_enabled   = false
    limit_query     = 10
    limit_results   = 50
    min_term_length = 3
  }
}
