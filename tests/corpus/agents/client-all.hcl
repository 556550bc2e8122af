data_dir = "/d"
server { enabled = true }
client {
  enabled            = true
  state_dir          = "/d/state"
  alloc_dir          = "/d/allocations"
  servers            = ["10.0.0.1:4647", "10.0.0.2"]
  node_class         = "large"
  node_pool          = "builds"
  network_interface  = "eth0"
  network_speed      = 2500
  cpu_total_compute  = 8000
  memory_total_mb    = 16384
  disk_total_mb      = 100000
  disk_free_mb       = 50000
  reservable_cores   = "0-3,6"
  max_kill_timeout   = "2m"
  min_dynamic_port   = 21000
  max_dynamic_port   = 31000
  client_min_port    = 15000
  client_max_port    = 15100
  gc_interval        = "5m"
  gc_parallel_destroys     = 4
  gc_disk_usage_threshold  = 90
  gc_inode_usage_threshold = 85.5
  gc_max_allocs      = 200
  no_host_uuid       = true
  disable_remote_exec = true
  cgroup_parent      = "longshore.slice"
  nomad_service_discovery = false
  default_ineligible = false
  node_max_allocs    = 100
  preferred_address_family = "ipv4"
  gc_volumes_on_node_gc = true
  cpu_disable_dmidecode = true
  log_file           = "/var/log/client"
  server_join {
    start_join     = ["10.0.0.1"]
    retry_join     = ["10.0.0.2"]
    retry_max      = 3
    retry_interval = "5s"
  }
  reserved {
    cpu            = 500
    memory         = 512
    disk           = 1024
    cores          = "0"
    reserved_ports = "22,80,8500-8600"
  }
  meta {
    rack  = "r1"
    owner = "ops"
  }
  chroot_env {
    "/bin" = "/bin"
    "/lib" = "/lib"
  }
  users {
    dynamic_user_min = 90000
    dynamic_user_max = 90999
  }
  fingerprint "env_aws" {
    retry_attempts  = -1
    retry_interval  = "1s"
    exit_on_failure = true
  }
  drain_on_shutdown {
    deadline           = "30m"
    force              = true
    ignore_system_jobs = true
  }
}
