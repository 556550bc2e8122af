job "j" {
  group "g" {
    task "t" {
      driver = "mock_driver"
      config {
        md5    = md5("hello world")
        sha1   = sha1("hello world")
        sha256 = sha256("hello world")
        sha512 = sha512("")
        uuidv5 = uuidv5("dns", "www.terraform.io")
        # These are others at each reading; only their form is told here.
        uuidv4 = regex_replace(uuidv4(), "[0-9a-f]", "x")
        bcrypt = substr(bcrypt("secret", 4), 0, 7)
        failed = try(rsadecrypt("AAAA", "no key"), "not decrypted")
      }
    }
  }
}
