job "j" {
  group "g" {
    task "t" {
      driver = "mock_driver"
      config {
        format     = format("%s has %03d of %5.2f, %t, %q", "x", 7, 2.256, true, "q")
        formatlist = formatlist("%s-%d", ["a", "b"], [1, 2])
        values     = format("%v %#v", [1, "a"], "b")
        bases      = format("%b %o %x %X", 5, 8, 255, 255)
        ordered    = format("%[2]s %[1]s", "world", "hello")
        padded     = format("|%-6s|%6s|%+d|", "ab", "cd", 3)
      }
    }
  }
}
