job "j" {
  group "g" {
    task "t" {
      driver = "mock_driver"
      config {
        chunklist    = chunklist(["a", "b", "c"], 2)
        coalesce     = coalesce(null, "", "x")
        coalescelist = coalescelist([], [1])
        compact      = compact(["a", "", null])
        concat       = concat(["a"], ["b"])
        contains     = contains(["a"], "a")
        distinct     = distinct(["a", "b", "a"])
        element      = element(["a", "b"], 3)
        flatten      = flatten([["a"], [["b"]]])
        index        = index(["a", "b"], "b")
        length       = [length([1, 2]), length({ a = 1 }), length("abc")]
        range        = [range(3), range(1, 8, 3), range(3, 1)]
        reverse      = reverse([1, 2, 3])
        slice        = slice(["a", "b", "c"], 1, 3)
        sort         = sort(["b", "a"])
      }
    }
  }
}
