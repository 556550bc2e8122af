job "j" {
  meta {
    "odd name" = 1
  }
}
