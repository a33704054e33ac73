"""``mongo-tables diff``: what changed in the tables of a site, between two results sources, built sites or checkouts.

``states`` makes plain tables of pages and a source, ``sites`` of built pages, ``checkouts`` of a folder with pages and
results of its own, ``comparing`` holds two lists of them against each other, ``writing`` says the outcome as text or
Markdown.
"""
