# -var count=many
# -var list=[true
variable "count" { type = number }
variable "list" { type = list(number) }
variable "kind" { type = strin }
variable "quoted" { type = "string" }
variable "default" {
  type    = list(string)
  default = { a = 1 }
}
variable "odd" { type = list(string, number) }
job "j" {}
