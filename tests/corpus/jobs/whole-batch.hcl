# A nightly import with a payload of SQL files.
locals {
  steps = ["extract", "transform", "load"]
}
job "import" {
  type = "batch"
  periodic {
    crons            = ["30 1 * * *"]
    time_zone        = "Europe/Vienna"
    prohibit_overlap = true
  }
  group "import" {
    restart {
      attempts = 1
      mode     = "fail"
    }
    reschedule {
      attempts  = 0
      unlimited = false
    }
    ephemeral_disk {
      size = 5000
    }
    dynamic "task" {
      for_each = local.steps
      labels   = ["${task.key + 1}-${task.value}"]
      content {
        driver = "exec"
        config {
          command = "local/bin/import"
          args    = ["--step", task.value, "--date", "${NOMAD_META_date}"]
        }
        artifact {
          source = "https://files.example.com/import.tar.gz"
        }
        dynamic "lifecycle" {
          for_each = task.value == "load" ? [] : [1]
          content {
            hook = "prestart"
          }
        }
      }
    }
  }
}
