job "node-exporter" {
  type        = "system"
  node_pool   = "all"
  datacenters = ["*"]
  update {
    stagger      = "10s"
    max_parallel = 5
  }
  group "exporter" {
    network {
      port "metrics" {
        static = 9100
      }
    }
    task "exporter" {
      driver = "docker"
      config {
        image        = "prom/node-exporter:v1.7.0"
        network_mode = "host"
        pid_mode     = "host"
        volumes      = ["/:/host:ro,rslave"]
        args = [
          "--path.rootfs=/host",
          "--web.listen-address=:${NOMAD_PORT_metrics}",
        ]
      }
    }
  }
}
