variable "regions" {
  type    = list(string)
  default = ["eu", "us"]
}
job "j" {
  dynamic "group" {
    for_each = var.regions
    labels   = ["web-${group.value}"]
    content {
      count = group.key + 1
      dynamic "task" {
        for_each = convert(["server", "agent", "agent"], set(string))
        labels   = [task.value]
        content {
          driver = "mock_driver"
          config {
            dynamic "mount" {
              for_each = { a = "/a", b = "/b" }
              content {
                source = mount.key
                target = "${mount.value}/${group.value}"
              }
            }
          }
        }
      }
    }
  }
}
