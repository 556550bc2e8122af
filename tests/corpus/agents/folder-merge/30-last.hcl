region = ""
client { meta { zone = "z3" } }
