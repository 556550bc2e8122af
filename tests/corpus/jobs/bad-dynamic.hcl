job "j" {
  group "g" {
    dynamic "service" {
      content {}
    }
    dynamic "service" {
      for_each = []
    }
    dynamic {
      for_each = []
    }
    dynamic "task" {
      for_each = 5
      content {}
    }
    dynamic "task" {
      for_each = ["a"]
      labels   = task.value
      content {}
    }
    dynamic "check" {
      for_each = [1]
      iterator = "quoted"
      content {}
    }
    dynamic "thing" {
      for_each = [1]
      extra    = 5
      content {}
    }
  }
}
