# flags -dev
