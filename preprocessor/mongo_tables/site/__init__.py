"""Pages to figures: read the comments of pages, query the results source, check the rows, insert the figures.

``reading`` finds and checks the comments of one page. A ``build`` of pages sends each distinct query to the
results source once and checks the rows. No step raises for an author's mistake: each returns findings.
"""
