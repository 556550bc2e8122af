# The files are those beside this one.
job "j" {
  group "g" {
    task "t" {
      driver = "mock_driver"
      config {
        abspath    = basename(abspath("precedence.vars"))
        basename   = basename("foo/bar/baz.txt")
        dirname    = dirname("foo/bar/baz.txt")
        file       = split("\n", file("precedence.vars"))[1]
        filebase64 = substr(filebase64("precedence.vars"), 0, 4)
        fileexists = [fileexists("precedence.vars"), fileexists("none")]
        fileset    = fileset(".", "prec*.vars")
        pathexpand = pathexpand("/etc/hosts")
      }
    }
  }
}
