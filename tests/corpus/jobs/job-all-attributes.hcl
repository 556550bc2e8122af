job "everything" {
  id          = "everything-else"
  name        = "Everything"
  type        = "service"
  region      = "eu"
  namespace   = "shop"
  datacenters = ["dc1", "dc-*"]
  node_pool   = "fast"
  priority    = 70
  all_at_once = true

  group "g" {
    task "t" {
      driver = "mock_driver"
    }
  }
}
