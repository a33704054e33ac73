"""``mongo-tables export``: ``gotext`` and ``benchertext`` write, ``losses`` says what a format cannot carry."""
