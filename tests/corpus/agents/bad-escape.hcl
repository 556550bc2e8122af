name = "\q"
