locals {
  servers = [
    { name = "a", ports = [1, 2] },
    { name = "b", ports = [3] },
  ]
}
job "j" {
  group "g" {
    task "t" {
      driver = "mock_driver"
      config {
        names    = local.servers[*].name
        legacy   = local.servers.*.name
        first    = local.servers[0].ports[1]
        ports    = flatten(local.servers[*].ports)
        by_name  = { for s in local.servers : s.name => length(s.ports) }
        grouped  = { for s in local.servers : "n${length(s.ports)}" => s.name... }
        filtered = [for i, s in local.servers : "${i}-${s.name}" if contains(s.ports, 3)]
        pairs    = [for k, v in { x = 1, y = 2 } : "${k}${v}"]
      }
    }
  }
}
