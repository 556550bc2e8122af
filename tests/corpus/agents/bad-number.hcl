gc_interval = 30s
log_level = INFO
