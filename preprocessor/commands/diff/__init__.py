"""``mongo-tables diff``: what changed in the tables of a site, between two results sources or two built sites.

``states`` makes plain tables of pages and a source, ``sites`` of built pages, ``comparing`` holds two lists of them
against each other, ``writing`` says the outcome as text or Markdown.
"""
