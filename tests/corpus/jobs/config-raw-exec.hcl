job "j" {
  type = "batch"
  group "g" {
    task "t" {
      driver = "raw_exec"
      config {
        command = "/bin/sh"
        args = [
          "-c",
          <<-EOT
            set -e
            echo "$HOME on $(hostname)"
            echo $${NOMAD_TASK_NAME}
          EOT
        ]
      }
    }
  }
}
