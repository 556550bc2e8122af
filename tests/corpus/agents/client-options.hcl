data_dir = "/d"
server { enabled = true }
client {
  enabled = true
  options {
    "driver.allowlist"           = "docker,raw_exec"
    "driver.whitelist"           = "docker"
    "driver.denylist"            = "java"
    "driver.blacklist"           = "qemu"
    "env.denylist"               = "AWS_SECRET_ACCESS_KEY,X"
    "env.blacklist"              = "Y"
    "driver.raw_exec.enable"     = "1"
    "driver.raw_exec.no_cgroups" = "true"
    "driver.mock_driver.enable"  = "true"
    "fingerprint.denylist"       = "env_aws,env_gce"
    "user.checked_drivers"       = "exec"
    driver.docker.volumes        = true
  }
}
