variable "image" { default = "a" }
locals {
  port = 80
}
job "j" {
  group "g" {
    task "t" {
      config {
        a = var.imgae
        b = local.prot
        c = var.nothing_like_it
        d = local.port.number
        e = [1][5]
        f = { a = 1 }.aa
      }
    }
  }
}
