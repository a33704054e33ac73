"""Accumulators of ``$group`` and window operators of ``$setWindowFields``, one family per module."""
