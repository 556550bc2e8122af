job "j" {
  group "g" {
    task "t" {
      driver = "mock_driver"
      config {
        flush    = <<EOF
  keeps
    its blanks
EOF
        indented = <<-EOF
          loses
            what all lines share
          at their start
        EOF
        filled   = <<-EOT
          name = ${upper("x")}
          node = ${node.unique.name}
          %{ for n in [1, 2] ~}
          line ${n}
          %{ endfor ~}
          quotes "stay", \n too, and $${this} %%{that}
        EOT
        empty    = <<EOF
EOF
      }
    }
  }
}
