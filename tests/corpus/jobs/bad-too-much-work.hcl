locals {
  big = [for a in range(1000) : [for b in range(1000) : [for c in range(1000) : a * b * c]]]
}
job "j" {
  name = length(local.big)
}
