variable "user" {
  type    = string
  default = null
}
job "j" {
  priority = null
  region   = var.user
  group "g" {
    count = null
    task "t" {
      driver       = "mock_driver"
      user         = var.user
      kill_timeout = null
      config {
        kept = null
      }
    }
  }
}
