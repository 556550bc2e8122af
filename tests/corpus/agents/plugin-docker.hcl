data_dir = "/d"
server { enabled = true }
client { enabled = true }
plugin "docker" {
  args = []
  config {
    endpoint         = "unix:///run/docker.sock"
    allow_privileged = true
    allow_caps       = ["chown", "net_raw"]
    allow_runtimes   = ["runc", "kata"]
    allow_devices    = ["/dev/fuse"]
    allow_network_modes    = ["bridge", "none"]
    allow_registries       = ["docker.io/library/*"]
    allow_seccomp_profiles = ["/etc/seccomp/*"]
    allowed_modes {
      pid    = ["host"]
      ipc    = ["host"]
      userns = ["host"]
      uts    = ["host"]
    }
    nvidia_runtime           = "nvidia"
    infra_image              = "registry.example/pause:3"
    infra_image_pull_timeout = "10m"
    image_pull_timeout       = "20m"
    pull_activity_timeout    = "3m"
    pull_parallelism         = 8
    pull                     = "changed"
    container_exists_attempts = 7
    pids_limit               = 4096
    oom_score_adj            = 100
    disable_log_collection   = true
    extra_labels             = ["job_*", "node_name"]
    windows_allow_insecure_container_admin = false
    auth {
      config         = "/etc/docker.json"
      helper         = "ecr-login"
      helper_timeout = "10s"
      helper_env { AWS_PROFILE = "pulls" }
    }
    gc {
      image       = true
      image_delay = "1h"
      container   = false
      keep        = ["*/base:*"]
      foreign     = "collect"
      keep_versions = 2
      retain      = "space"
      budget      = "20GB"
      disk_high   = 85
      disk_low    = "70%"
      min_free    = "5GiB"
      min_age     = "10m"
      max_age     = "720h"
      reclaim     = false
      dangling_containers {
        enabled        = false
        dry_run        = true
        period         = "10m"
        creation_grace = "15m"
      }
    }
    volumes {
      enabled      = true
      selinuxlabel = "z"
    }
    logging {
      type = "json-file"
      config {
        max-file = 3
        max-size = "5m"
      }
    }
  }
}
