variable "a" {
  sensitive = true
  typ       = string
}
variable {}
variable "twice" { default = 1 }
variable "twice" { default = 2 }
variables {
  inner {}
}
locals {
  b {}
}
job "j" {}
