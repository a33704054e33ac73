"""``mongo-tables check``: ``command`` declares and reports, ``checking`` judges, ``accepting`` keeps a baseline."""
