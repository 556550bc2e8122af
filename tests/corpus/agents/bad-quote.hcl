name = "a
region = "b"
