data_dir = "/d"
server {
  enabled = "1"
  num_schedulers = "0x4"
  job_tracked_versions = 3.0
  event_buffer_size = 1e2
  max_heartbeats_per_second = "7.25"
}
ports { http = "4701" }
