"""How ``comments.find`` reads a page: what Python-Markdown, its extensions and MkDocs make of the text.

``livecomments`` judges each comment; ``containers``, ``rawhtml``, ``fences`` and ``frontmatter`` model where text is
code or live; ``commonmark`` asks markdown-it-py for a second opinion.
"""
