region               = "eu-1"
datacenter           = "dc-a"
name                 = "host-a"
data_dir             = "/var/lib/longshore"
plugin_dir           = "/opt/plugins"
bind_addr            = "10.0.0.7"
log_level            = "debug"
log_json             = true
log_include_location = true
log_file             = "/var/log/longshore/"
log_rotate_duration  = "12h"
log_rotate_bytes     = 10485760
log_rotate_max_files = 5
enable_debug         = true
enable_syslog        = true
syslog_facility      = "LOCAL1"
leave_on_interrupt   = true
leave_on_terminate   = true
disable_update_check = true
disable_anonymous_signature = true
http_api_response_headers {
  Access-Control-Allow-Origin = "*"
  "X-Team"                    = "ops"
}
http_api_allowed_origins = ["https://ui.example"]
http_api_allowed_hosts   = ["longshore.example", "box"]
server { enabled = true }
client { enabled = true }
