job "j" {
  group "g" {
    task "t" {
      driver = "mock_driver"
      template {
        data        = <<EOF
{{ range nomadService "db" }}
server {{ .Address }}:{{ .Port }}
{{ end }}
EOF
        destination = "local/app.conf"
      }
      template {
        source               = "local/in.tpl"
        destination          = "secrets/env"
        change_mode          = "signal"
        change_signal        = "sighup"
        splay                = "10s"
        perms                = "600"
        uid                  = 1000
        gid                  = 1001
        left_delimiter       = "[["
        right_delimiter      = "]]"
        env                  = true
        vault_grace          = "5m"
        error_on_missing_key = true
        once                 = true
        wait {
          min = "2s"
          max = "1m"
        }
      }
      template {
        data        = "x"
        destination = "local/x"
        change_mode = "script"
        change_script {
          command             = "/bin/reload"
          args                = ["-q", "${NOMAD_TASK_NAME}"]
          timeout             = "20s"
          fail_on_error       = true
          run_on_first_render = true
        }
      }
      template {
        data        = "quiet"
        destination = "local/y"
        change_mode = "noop"
      }
    }
  }
}
