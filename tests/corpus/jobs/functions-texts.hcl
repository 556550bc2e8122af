job "j" {
  group "g" {
    task "t" {
      driver = "mock_driver"
      config {
        chomp         = chomp("hello\n\n")
        indent        = indent(2, "[\n  foo,\n]")
        join          = join(", ", ["foo", "bar"])
        lower         = lower("HELLO")
        upper         = upper("hello")
        regex_replace = regex_replace("hello world", "w.*d", "everybody")
        replace       = replace("1 + 2", "+", "-")
        split         = split(",", "foo,bar")
        strlen        = strlen("hello")
        strrev        = strrev("hello")
        substr        = substr("hello world", -5, -1)
        title         = title("hello world")
        trim          = trim("?!hello?!", "!?")
        trimprefix    = trimprefix("helloworld", "hello")
        trimspace     = trimspace("  hello\n")
        trimsuffix    = trimsuffix("helloworld", "world")
      }
    }
  }
}
