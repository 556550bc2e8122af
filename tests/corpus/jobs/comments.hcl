# A comment.
// Another one.
/* And one
   over lines. */
job "j" { # behind a block
  group "g" { // likewise
    count = 2 # behind a value
    /* before */ task "t" {
      driver = /* within */ "mock_driver"
    }
  }
}
