"""Rows in, text out: what a table looks like in HTML and in Markdown."""
