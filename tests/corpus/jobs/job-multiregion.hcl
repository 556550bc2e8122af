job "wide" {
  multiregion {
    strategy {
      max_parallel = 1
      on_failure   = "fail_all"
    }
    region "west" {
      count       = 2
      datacenters = ["west-1"]
      meta {
        shard = "w"
      }
    }
    region "east" {
      count       = 1
      datacenters = ["east-1", "east-2"]
      node_pool   = "big"
    }
  }
  group "g" {
    count = 0
    task "t" { driver = "mock_driver" }
  }
}
