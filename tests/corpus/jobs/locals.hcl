locals {
  last   = "${local.middle}!"
  middle = upper(local.first)
}
locals {
  first = var.word
  sizes = { small = 100, large = 1000 }
}
variable "word" { default = "hello" }
job "j" {
  meta {
    greeting = local.last
    large    = local.sizes.large
    small    = local.sizes["small"]
  }
  group "g" {
    task "t" { driver = "mock_driver" }
  }
}
