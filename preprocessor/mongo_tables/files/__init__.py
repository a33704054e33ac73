"""Files and their surroundings: atomic writes, text as it is on disk, environment variables."""
