data_dir = "/d"
server { enabled = true }
client {
  enabled = true
  artifact {
    http_read_timeout = "10m"
    http_max_size     = "10GB"
    gcs_timeout       = "11m"
    git_timeout       = "12m"
    hg_timeout        = "13m"
    s3_timeout        = "14m"
    decompression_file_count_limit = 1000
    decompression_size_limit       = "20GB"
    disable_filesystem_isolation   = true
    filesystem_isolation_extra_paths = ["f:r:/etc/hosts"]
    disable_artifact_inspection    = true
    set_environment_variables      = "HTTPS_PROXY"
  }
}
