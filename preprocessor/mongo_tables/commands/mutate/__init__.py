"""``mongo-tables mutate``: ``command`` declares, ``mutating`` does the work."""
