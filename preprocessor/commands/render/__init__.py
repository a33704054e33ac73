"""``mongo-tables render``: ``command`` declares and renders, ``writing`` puts pages on disk."""
