"data_dir" = "/d"
"server" = { "enabled" = "true", "bootstrap_expect" = "1" }
client = {
  enabled = "t"
  options = { docker.cleanup.image = 0, "x" = "y" }
  meta { quoted = "a \"b\" ${c}" heredoc = <<-TEXT
    one
      two
    TEXT
  }
}
// a comment
/* and
   another */
