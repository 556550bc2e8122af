job "j" {
  priority    = "high"
  all_at_once = "maybe"
  datacenters = "dc1"
  region      = ["a"]
  group "g" {
    count = 1.5
    meta  = ["a"]
    spread {
      attribute = "x"
      target "a" { percent = -1 }
    }
    task "t" {
      env = {
        LIST = [1]
      }
      leader = 1
    }
  }
}
