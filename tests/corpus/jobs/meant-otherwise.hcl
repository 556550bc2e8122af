# Roots that were probably meant to be others are told about.
variable "a" { default = 1 }
job "j" {
  meta {
    a = "${vars.a}"
    b = "${locals.b}"
  }
  group "g" {
    task "t" { driver = "mock_driver" }
  }
}
