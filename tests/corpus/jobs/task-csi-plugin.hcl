job "j" {
  type = "system"
  group "g" {
    task "plugin" {
      driver = "docker"
      csi_plugin {
        id                     = "nfs"
        type                   = "monolith"
        mount_dir              = "/csi"
        stage_publish_base_dir = "/local/csi"
        health_timeout         = "45s"
      }
      config {
        image = "registry.example.com/csi-nfs:4"
      }
    }
  }
}
