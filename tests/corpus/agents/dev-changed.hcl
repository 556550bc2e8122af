# flags -dev -bind 0.0.0.0 -node n1 -dc east -meta rack=r1 -meta zone=b -network-speed 1000
region    = "eu"
log_level = "warn"
client {
  meta { rack = "r0" }
  gc_max_allocs = 7
}
