# flags -dev
regoin = "eu"
server {
  enabeld = true
  colour  = "red"
}
client {
  datacenter = "dc2"
  gc { image = false }
}
node_class = "big"
