job "j" {
  affinity {
    attribute = "${node.datacenter}"
    value     = "dc1"
    weight    = 100
  }
  group "g" {
    affinity {
      attribute = "${attr.driver.docker.version}"
      version   = ">= 20.10"
      weight    = -10
    }
    affinity {
      attribute = "${attr.nomad.version}"
      semver    = ">= 1.6.0-beta.1"
    }
    affinity {
      attribute = "${node.class}"
      regexp    = "^fast-[0-9]+$"
    }
    affinity {
      attribute    = "${meta.tags}"
      set_contains = "ssd,gpu"
    }
    affinity {
      attribute        = "${meta.tags}"
      set_contains_all = "ssd,gpu"
    }
    task "t" {
      driver = "mock_driver"
      affinity {
        attribute        = "${meta.tags}"
        set_contains_any = "ssd,nvme"
        weight           = 25
      }
      affinity {
        attribute = "${attr.kernel.name}"
        operator  = "!="
        value     = "windows"
      }
    }
  }
}
