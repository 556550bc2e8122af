# flags -dev
plugin "docker" {
  gc { image_delay = "1h" }
  config {
    gc {
      image_dellay = "1h"
      foreign = "remove"
      keep_versions = 9
      dangling_containers { creation_grace = "1s" }
    }
    volume { enabled = true }
  }
}
plugin "raw_exec" { config { enable = true } }
client { options { "docker.cleanup.image" = "flase" } }
