# -var count=3
variable "count" {
  type = number
  validation {
    condition     = var.count > 0 && var.count < 10
    error_message = "The count must be from 1 to 9."
  }
  validation {
    condition     = floor(var.count) == var.count
    error_message = "No halves!"
  }
}
job "j" {
  group "g" {
    count = var.count
    task "t" { driver = "mock_driver" }
  }
}
