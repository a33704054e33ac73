"""``mongo-tables history``: ``known`` reads the changes that are explained, ``writing`` says what changed."""
