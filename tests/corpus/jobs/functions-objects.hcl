job "j" {
  group "g" {
    task "t" {
      driver = "mock_driver"
      config {
        keys            = keys({ b = 1, a = 2 })
        values          = values({ b = 1, a = 2 })
        lookup          = lookup({ a = 1 }, "z", "none")
        merge           = merge({ a = 1, b = 1 }, { b = 2 })
        zipmap          = zipmap(["a", "b"], [1, 2])
        setintersection = setintersection(["a", "b"], ["b", "c"])
        setproduct      = setproduct(["a", "b"], [1])
        setunion        = setunion(["b"], ["a", "b"])
        convert         = convert(["1", 2], list(string))
      }
    }
  }
}
