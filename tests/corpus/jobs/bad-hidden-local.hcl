# A local value that fails is told about, though one expression gets by without it.
locals {
  saved  = try(local.broken, "saved")
  broken = 1 / 0
}
job "j" {
  name = local.saved
  meta {
    broken = local.broken
  }
}
