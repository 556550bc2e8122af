job "j" {
  group "g" {
    task "t" {
      identity {}
      identity { name = "default" }
      scaling "disk" {
        max = 5
      }
    }
  }
}
