job "j" {
  group "g" {
    task "t" {
      driver = "mock_driver"
      config {
        formatdate = formatdate("EEE, DD MMM YYYY hh:mm:ss ZZZ", "2018-01-02T23:12:01-08:00")
        timeadd    = timeadd("2017-11-22T00:00:00Z", "10m")
      }
    }
  }
}
