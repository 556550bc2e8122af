# An example job. Run it with:
#
#   longshore job run example.nomad.hcl
#
# and look at it with "longshore job status example".

job "example" {
  # "service" keeps running; "batch" runs until it is done.
  type = "service"

  # Which datacenters it may run in; globs are allowed.
  datacenters = ["*"]

  # How a new version replaces the old one: one allocation after the other, the next when this one has been healthy
  # for ten seconds. If it does not become healthy, the last version that was comes back.
  update {
    max_parallel     = 1
    min_healthy_time = "10s"
    healthy_deadline = "5m"
    auto_revert      = true
  }

  # Tasks of a group are placed together on one node, "count" times.
  group "cache" {
    count = 1

    # A port of the node that is free; the task listens on 6379 inside of its network.
    network {
      port "db" {
        to = 6379
      }
    }

    # What the node does when a task ends that should run.
    restart {
      attempts = 2
      interval = "30m"
      delay    = "15s"
      mode     = "fail"
    }

    task "redis" {
      driver = "docker"

      # The image is pulled once on each node that needs it, kept while a task needs it, and removed some minutes after
      # the last one has ended. "longshore image status" tells what is there, and why.
      config {
        image = "redis:7"
        ports = ["db"]
      }

      # What the task gets: MHz and MiB.
      resources {
        cpu    = 500
        memory = 256
      }
    }
  }
}
