locals {
  names = ["ann", "bob"]
}
job "j" {
  meta {
    loop    = "%{ for i, n in local.names }${i}=${n};%{ endfor }"
    choice  = "%{ if length(local.names) > 1 }many%{ else }few%{ endif }"
    nested  = "%{ for n in local.names }%{ if n != "bob" }${n}%{ endif }%{ endfor }"
    trimmed = "a   ${~ "b" ~}   c"
    object  = "%{ for k, v in { y = 2, x = 1 } }${k}${v}%{ endfor }"
  }
  group "g" {
    task "t" { driver = "mock_driver" }
  }
}
