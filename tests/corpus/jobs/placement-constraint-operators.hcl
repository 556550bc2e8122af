job "j" {
  constraint {
    attribute = "${attr.kernel.name}"
    value     = "linux"
  }
  constraint {
    attribute = "${attr.cpu.numcores}"
    operator  = ">="
    value     = 4
  }
  constraint {
    attribute = "${attr.memory.totalbytes}"
    operator  = ">"
    value     = "1073741824"
  }
  constraint {
    attribute = "${node.class}"
    operator  = "not"
    value     = "old"
  }
  constraint {
    attribute = "${meta.rack}"
    operator  = "is_set"
  }
  constraint {
    attribute = "${meta.retired}"
    operator  = "is_not_set"
  }
  constraint {
    operator = "distinct_hosts"
    value    = "true"
  }
  constraint {
    operator  = "distinct_property"
    attribute = "${meta.rack}"
    value     = "3"
  }
  group "g" {
    constraint {
      attribute = "${attr.unique.hostname}"
      operator  = "set_contains_any"
      value     = "a,b"
    }
    task "t" {
      driver = "mock_driver"
      constraint {
        attribute = "${attr.os.version}"
        operator  = "<"
        value     = "24"
      }
      constraint {
        attribute = "${attr.os.name}"
        operator  = "is"
        value     = "debian"
      }
    }
  }
}
