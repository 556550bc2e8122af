job "meta" {
  meta = {
    written  = "as an attribute"
    number   = 5
    "odd/key" = true
  }
  group "g" {
    meta {
      written = "as a block"
      number  = 1.50
      flag    = false
    }
    task "t" {
      driver = "mock_driver"
      meta   = {}
    }
  }
}
