locals {
  service = "web"
}
job "j" {
  group "g" {
    task "t" {
      driver = "mock_driver"
      constraint {
        attribute = attr.kernel.name
        value     = "linux"
      }
      config {
        node     = "${node.unique.id} ${node.datacenter} ${node.class} ${node.pool}"
        attr     = "${attr.kernel.name}"
        meta     = "${meta.rack}"
        variable = "${env["HOME"]}:${NOMAD_ALLOC_ID}"
        mixed    = "${local.service}.${node.region}:${NOMAD_PORT_http}"
        index    = "${attr.cpu.cores[0]}"
        bare     = node.class
        inside   = upper("${NOMAD_DC}")
      }
    }
  }
}
