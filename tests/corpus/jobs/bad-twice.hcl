job "j" {
  update {}
  update {}
  meta { a = 1 }
  meta { b = 2 }
  group "g" {
    volume "v" { type = "host" }
    volume "v" { type = "csi" }
    task "t" {
      config {}
      config {}
    }
  }
}
