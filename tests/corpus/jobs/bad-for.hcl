job "j" {
  meta {
    a = [for x in 5 : x]
    b = { for x in [1, 2] : "same" => x }
    c = [for x in [1] : x if "perhaps"]
    d = { for x in [1] : [x] => x }
    e = { ([1]) = 2 }
  }
}
