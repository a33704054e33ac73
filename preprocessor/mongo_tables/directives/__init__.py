"""Markdown to directives: the comments of a page, where each stands, and what it asks for, as plain data."""
