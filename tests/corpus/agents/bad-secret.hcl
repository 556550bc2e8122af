vault { token = s3cret-word }
