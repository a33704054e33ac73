"""Markdown with ``MONGO_*`` comments in, a published performance site out."""

__version__ = "0.1.0"
