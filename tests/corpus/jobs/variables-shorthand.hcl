# -var count=4
variables {
  image = "nginx"
  count = 2
  tags  = ["a", "b"]
}
job "j" {
  group "g" {
    count = var.count
    task "t" {
      driver = "docker"
      config {
        image = "${var.image}:1"
        tags  = join(",", var.tags)
        all   = length(var)
      }
    }
  }
}
