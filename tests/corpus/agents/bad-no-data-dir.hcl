server { enabled = true }
