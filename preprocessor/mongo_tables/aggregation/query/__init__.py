"""The query language of ``$match``: compiled into predicates over documents."""
