job "j" {
  name = <<EOF
never ends
}
