"""``mongo-tables pool``: what several campaigns conclude together, written into their rows.

``keeping`` writes campaigns as rows with only what pooling needs, ``writing`` says what was concluded.
"""
