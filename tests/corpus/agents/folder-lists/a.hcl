data_dir = "/d"
server {
  enabled            = true
  enabled_schedulers = ["service"]
}
client {
  enabled = true
  servers = ["a"]
}
consul { tags = ["one"] }
http_api_allowed_hosts = ["first"]
