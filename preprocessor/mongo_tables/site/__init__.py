"""From pages to figures: the comments of pages, the rows of their queries, checks, and the figures in their place.

``disk`` reads a snapshot of files, ``site`` parses it, ``checks`` finds faults. ``figures``, ``markdown`` and
``in_place`` make the figures. No step raises for an author's mistake: each returns findings.
"""
