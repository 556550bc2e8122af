job "j" {
  constraint {
    attribute = "${attr.vault.version}"
    version   = ">= 0.6.1, < 2"
  }
  constraint {
    attribute = "${attr.consul.version}"
    semver    = ">= 1.8.0"
  }
  constraint {
    attribute = "${node.unique.name}"
    regexp    = "web-.*"
  }
  constraint {
    attribute    = "${meta.tags}"
    set_contains = "ssd"
  }
  constraint {
    attribute        = "${meta.tags}"
    set_contains_all = "ssd,10g"
  }
  constraint {
    attribute        = "${meta.tags}"
    set_contains_any = "ssd,nvme"
  }
  constraint {
    attribute = "${meta.zone}"
    is_set    = true
  }
  constraint {
    attribute  = "${meta.broken}"
    is_not_set = true
  }
  constraint {
    distinct_hosts = true
  }
  group "g" {
    constraint {
      distinct_property = "${node.datacenter}"
      value             = "2"
    }
    constraint {
      distinct_hosts = false
    }
    task "t" { driver = "mock_driver" }
  }
}
