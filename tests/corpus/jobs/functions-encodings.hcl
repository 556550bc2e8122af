job "j" {
  group "g" {
    task "t" {
      driver = "mock_driver"
      config {
        base64encode = base64encode("Hello World")
        base64decode = base64decode("SGVsbG8gV29ybGQ=")
        csvdecode    = csvdecode("a,b\n1,2\n")
        jsonencode   = jsonencode({ hello = ["<world>", 1, null] })
        jsondecode   = jsondecode("{\"a\": [1.5, true]}")
        yamlencode   = yamlencode({ a = [1, { b = "c" }], d = "two\nlines\n" })
        yamldecode   = yamldecode("a: [1, x]\nb: {c: ~}\n")
        urlencode    = urlencode("a b&c")
      }
    }
  }
}
