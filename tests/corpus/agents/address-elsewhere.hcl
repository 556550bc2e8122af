data_dir  = "/d"
bind_addr = "{{ GetInterfaceIP \"ens9\" }}"
server { enabled = true }
