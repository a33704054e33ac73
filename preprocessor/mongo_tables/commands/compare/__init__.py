"""``mongo-tables compare``: two campaigns row by row, or what was concluded within one.

``failing`` reads the conditions for which the command fails, ``writing`` says what was found as text or JSON, and
``explaining`` the arithmetic behind it.
"""
