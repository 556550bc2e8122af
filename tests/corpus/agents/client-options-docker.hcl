data_dir = "/d"
server { enabled = true }
client {
  enabled = true
  options {
    "docker.endpoint"            = "unix:///run/other.sock"
    "docker.cleanup.image"       = "true"
    "docker.cleanup.image.delay" = "1h"
    "docker.cleanup.container"   = "false"
    "docker.privileged.enabled"  = "true"
    "docker.volumes.enabled"     = "true"
    "docker.volumes.selinuxlabel" = "z"
    "docker.caps.whitelist"      = "CHOWN"
    "docker.caps.allowlist"      = "CHOWN, KILL"
    "docker.auth.config"         = "/etc/docker.json"
    "docker.auth.helper"         = "ecr"
    "docker.nvidia_runtime"      = "nvidia"
    "docker.tls.ca"              = "/ca"
    "docker.tls.key"             = "/key"
    "docker.unheard"             = "x"
  }
}
