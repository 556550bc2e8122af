variable "needed" {
  type = string
}
job "j" {
  name = var.needed
}
