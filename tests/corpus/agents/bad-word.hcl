log_level = INFO
