data_dir  = "/d"
bind_addr = "{{ GetAllInterfaces }}"
server { enabled = true }
