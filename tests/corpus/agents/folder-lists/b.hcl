server { enabled_schedulers = ["batch"] }
client { servers = ["b", "c"] }
consul { tags = ["two"] }
http_api_allowed_hosts = ["second"]
