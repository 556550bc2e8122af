job "j" {
  grop "g" {}
  group "g" {
    tsak "t" {}
    thing {}
  }
}
