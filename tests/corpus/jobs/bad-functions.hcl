job "j" {
  meta {
    a = uper("x")
    b = upper()
    c = substr("a", 1)
    d = range(100000)
    e = file("/etc/hosts.none")
    f = format("%d", "x")
    g = jsondecode("{")
    h = nothing_like_it(1)
    i = convert("x", number)
    j = regex_replace("a", "[", "")
    k = max("a"...)
  }
}
