data_dir = "/d"
server { enabled = true }
ui {
  enabled = true
  show_cli_hints = false
  consul { ui_url = "https://consul.example/ui" }
  vault { ui_url = "https://vault.example/ui" }
  label {
    text             = "Test"
    background_color = "yellow"
    text_color       = "#000000"
  }
  content_security_policy {
    connect_src     = ["*"]
    default_src     = ["'self'"]
    form_action     = ["'self'"]
    frame_ancestors = ["'self'"]
    img_src         = ["'self'"]
    script_src      = ["'self'"]
    style_src       = ["'self'"]
  }
}
rpc {
  accept_backlog           = 128
  keep_alive_interval      = "1m"
  connection_write_timeout = "20s"
  max_stream_window_size   = 524288
  stream_open_timeout      = "30s"
  stream_close_timeout     = "1m"
  dial_timeout             = "5s"
}
eventlog {
  enabled = true
  level   = "error"
}
reporting {
  address                         = "https://reports.example"
  export_interval                 = "1h"
  snapshot_retention_time         = "48h"
  disable_product_usage_reporting = true
  license { enabled = false }
}
sentinel {
  import "x" { path = "/y" }
}
