"""Markdown to comments: the MONGO_* comments of a page, where each stands, and what is wrong with the others.

A comment is live where a MkDocs site (Python-Markdown) gives an HTML comment; in code, in another comment
and in front matter it is text. markdown-it-py gives a second opinion, and where the two disagree an author
is told. Text goes in, plain data comes out; nothing here fails on any text.

``pagescan`` decides on each comment; ``containers``, ``rawhtml``, ``fences`` and ``frontmatter`` model where text is
code or live; ``commonmark`` asks markdown-it-py for a second opinion.
"""

from mongo_tables.directives.comment import Comment, Region, Scan, replace
from mongo_tables.directives.keywords import KEYWORDS
from mongo_tables.directives.search import find, may_have_comment

__all__ = ["KEYWORDS", "Comment", "Region", "Scan", "find", "may_have_comment", "replace"]
