"""``mongo-tables calibrate``: ``command`` declares, ``measuring`` and ``writing`` do the work."""
