variable "n" { default = 7 }
job "j" {
  group "g" {
    task "t" {
      driver = "mock_driver"
      config {
        sum        = var.n + 1
        difference = var.n - 10
        product    = var.n * 2
        quotient   = var.n / 2
        remainder  = var.n % 4
        negative   = -var.n
        compare    = [var.n == 7, var.n != 7, var.n < 7, var.n <= 7, var.n > 7, var.n >= 7]
        logic      = (var.n > 5 && var.n < 10) || !true
        choice     = var.n > 5 ? "large" : "small"
        grouped    = (1 + 2) * 3
        converted  = "5" * "2"
        decimals   = 0.1 + 0.2
        huge       = 123456789012345
        exponent   = 1.5e3
      }
    }
  }
}
