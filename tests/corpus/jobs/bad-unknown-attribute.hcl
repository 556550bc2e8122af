job "j" {
  datacentres = ["dc1"]
  group "g" {
    cuont = 2
    colour = "red"
    task "t" {}
  }
}
