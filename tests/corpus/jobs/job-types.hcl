# -var type=system
variable "type" {
  type    = string
  default = "service"
}
job "typed" {
  type = var.type
  group "g" {
    task "t" { driver = "mock_driver" }
  }
}
