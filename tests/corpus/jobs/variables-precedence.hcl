# env a=environment
# env b=environment
# env c=environment
# env nobody=ignored
# -var-file precedence.vars
# -var c=command line
variable "none" { default = "default" }
variable "a" { default = "default" }
variable "b" { default = "default" }
variable "c" { default = "default" }
job "j" {
  meta {
    none = var.none
    a    = var.a
    b    = var.b
    c    = var.c
  }
  group "g" {
    task "t" { driver = "mock_driver" }
  }
}
