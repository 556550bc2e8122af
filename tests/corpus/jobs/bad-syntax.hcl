job "j" {
  name: "colon"
}
