name = <<EOF
never
