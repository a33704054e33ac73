"""Parsing of Markdown pages into directives: the comments of a page, their places, and their settings as plain data."""
