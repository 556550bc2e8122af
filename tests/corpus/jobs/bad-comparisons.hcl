job "j" {
  constraint {
    attribute = "${attr.a}"
    version   = ">= 1"
    regexp    = "x"
  }
  constraint {
    attribute = "${attr.a}"
    is_set    = false
  }
  constraint {
    operator       = "="
    distinct_hosts = true
  }
}
