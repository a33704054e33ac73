"""Files and their environment: atomic writes, text as it is on disk, environment variables."""
