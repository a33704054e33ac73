"""Files and the process: atomic writes, folders, the memo, environment variables."""
