data_dir = "/d"
server { enabled = true }
client {
  enabled = true
  options {
    "docker.privileged.enabled"  = "true"
    "docker.cleanup.image.delay" = "96h"
    "docker.cleanup.container"   = "false"
    "driver.raw_exec.enable"     = "true"
  }
}
plugin "docker" {
  config { gc { image_delay = "10m" } }
}
plugin "raw_exec" {
  config { no_cgroups = true }
}
