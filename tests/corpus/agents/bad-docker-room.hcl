data_dir = "/d"
server { enabled = true }
client { enabled = true }
plugin "docker" {
  config {
    disk_high = 85
    gc {
      retain   = "space"
      disk_low = 70
      budget   = "20 apples"
      min_age  = "2h"
      max_age  = "1h"
    }
  }
}
