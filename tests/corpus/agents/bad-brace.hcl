server {
  enabled = true
