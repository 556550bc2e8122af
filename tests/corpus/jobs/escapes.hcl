job "j" {
  meta {
    dollar  = "$${not.read} $ $5 $$"
    percent = "%%{ not read } 100% %"
    quotes  = "a \"b\" \\ c"
    lines   = "a\nb\tc\r"
    unicode = "\u00e9 \U0001F600 é 😀"
  }
  group "g" {
    task "t" { driver = "mock_driver" }
  }
}
