"""``mongo-tables new``: a first comment for the documents that are there."""
