"""``mongo-tables run``: ``command`` declares, ``selection``, ``measuring`` and ``estimating`` do the work."""
