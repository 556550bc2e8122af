locals {
  a = local.b + 1
  b = local.c
  c = try(local.a, 0)
  d = 5
}
job "j" {
  priority = local.d
}
