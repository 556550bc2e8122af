job "j" {
  name = "%{ if true }no end"
}
