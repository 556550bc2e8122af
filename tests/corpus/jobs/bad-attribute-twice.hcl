job "j" {
  type = "batch"
  type = "service"
}
