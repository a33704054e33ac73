"""Markdown with ``MONGO_*`` comments in, a published performance site out."""

__version__ = "0.2.0"

SITE = "https://mongo-tables.example/"
"""Where this project's own site is published, and with it the schemas, each called by its address there."""
