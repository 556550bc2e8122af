job {
  group {}
  group "a" "b" {}
  update "label" {}
  group "g" {
    network {
      port {}
    }
  }
}
