# Each task that stands in the job itself is a group of its own.
job "flat" {
  task "one" {
    driver = "mock_driver"
  }
  task "two" {
    driver = "mock_driver"
  }
  group "proper" {
    count = 3
    task "three" { driver = "mock_driver" }
  }
}
