# -var nam=x
# -var-file precedence.vars
variable "name" { default = "a" }
job "j" {
  name = var.name
}
