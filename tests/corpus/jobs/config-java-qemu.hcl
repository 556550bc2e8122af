job "j" {
  group "g" {
    task "java" {
      driver = "java"
      config {
        jar_path    = "local/app.jar"
        jvm_options = ["-Xmx2048m", "-Xms256m"]
        class_path  = null
      }
    }
    task "vm" {
      driver = "qemu"
      config {
        image_path        = "local/linux.img"
        accelerator       = "kvm"
        graceful_shutdown = true
        args              = ["-nodefaults"]
        port_map {
          ssh = 22
        }
      }
    }
  }
}
