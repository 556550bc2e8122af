job "j" {
  group "g" {
    volume "data" {
      type      = "host"
      source    = "fast-disk"
      read_only = true
    }
    volume "db" {
      type            = "csi"
      source          = "database"
      access_mode     = "single-node-writer"
      attachment_mode = "file-system"
      per_alloc       = true
      sticky          = true
      mount_options {
        fs_type     = "ext4"
        mount_flags = ["noatime", "ro"]
      }
    }
    task "t" {
      driver = "mock_driver"
      volume_mount {
        volume      = "data"
        destination = "/srv/data"
      }
      volume_mount {
        volume           = "db"
        destination      = "/var/lib/db"
        read_only        = true
        propagation_mode = "host-to-task"
        selinux_label    = "Z"
      }
    }
  }
}
