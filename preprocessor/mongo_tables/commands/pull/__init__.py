"""``mongo-tables pull``: ``command`` declares and reports, ``selection`` knows which documents are wanted."""
