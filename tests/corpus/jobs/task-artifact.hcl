job "j" {
  group "g" {
    task "t" {
      driver = "mock_driver"
      artifact {
        source = "https://example.com/app.tar.gz"
      }
      artifact {
        source      = "https://example.com/tool"
        destination = "local/tool"
        mode        = "file"
        insecure    = true
        chown       = true
        options {
          checksum = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        }
        headers {
          Authorization = "Bearer x"
          X-Zone        = "eu"
        }
      }
      artifact {
        source      = "git::https://example.com/repo.git"
        destination = "local/repo"
        mode        = "dir"
        options = {
          ref   = "v1.2.3"
          depth = 1
        }
      }
    }
  }
}
