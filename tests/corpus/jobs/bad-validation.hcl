# -var count=12
variable "count" {
  type = number
  validation {
    condition     = var.count < 10
    error_message = "At most nine."
  }
}
variable "b" {
  default = 1
  validation {
    condition     = true
    error_message = "no sentence"
  }
  validation {
    condition = true
  }
  validation {
    condition     = "perhaps"
    error_message = "Yes."
  }
}
job "j" {}
