# -var ports=[80, "443"]
# -var limits={cpu = "100", memory = 64}
# -var pair=["a", 1]
# -var anything=plain words
variable "name" {
  type        = string
  default     = "web"
  description = "What it is called."
}
variable "count" {
  type    = number
  default = "3"
}
variable "enabled" {
  type    = bool
  default = "true"
}
variable "ports" {
  type = list(number)
}
variable "zones" {
  type    = set(string)
  default = ["b", "a", "b"]
}
variable "labels" {
  type    = map(string)
  default = { a = 1, b = true }
}
variable "limits" {
  type = object({ cpu = number, memory = number })
}
variable "pair" {
  type = tuple([string, number])
}
variable "anything" {
  type = any
}
job "typed" {
  group "g" {
    count = var.count
    task "t" {
      driver = "mock_driver"
      config {
        name     = var.name
        enabled  = var.enabled
        ports    = var.ports
        zones    = var.zones
        labels   = var.labels
        limits   = var.limits
        pair     = var.pair
        anything = var.anything
      }
    }
  }
}
