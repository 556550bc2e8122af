job "j" {
  meta {
    a.b = 1
  }
}
