job "j" {
  group "g" {
    task "t" {
      driver = "mock_driver"
      config {
        abs      = abs(-12.4)
        ceil     = ceil(5.1)
        floor    = floor(4.9)
        log      = log(16, 2)
        max      = max(12, 54, 3)
        min      = min([12, 54, 3]...)
        parseint = [parseint("FF", 16), parseint("aA", 62)]
        pow      = pow(3, 2)
        signum   = signum(-13)
      }
    }
  }
}
