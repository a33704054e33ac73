"""``mongo-tables init``: the first working set-up of a repository."""
