"""Pages to figures: the comments of pages, their rows from the results source, checks, and what replaces the comments.

``disk`` reads a snapshot of files, ``site`` parses it, ``checks`` finds faults, ``figures``, ``markdown`` and
``in_place`` make the figures. No step raises for an author's mistake: each returns findings.
"""
