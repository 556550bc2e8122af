plugin "docker" {
  config { gc { container = false } }
}
