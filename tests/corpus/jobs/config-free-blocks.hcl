# What only the driver reads may hold anything: blocks become lists of objects, labels become keys.
job "j" {
  group "g" {
    task "t" {
      driver = "other"
      config {
        number = 1.5
        nested = { list = [1, [2, { deep = true }]] }
        block {
          a = 1
        }
        block {
          a = 2
        }
        labelled "one" "two" {
          b = null
        }
      }
    }
  }
}
