job "j" {
  name = "never ends
  type = "batch"
}
