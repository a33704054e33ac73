"""Pages to figures: read the comments of pages, ask the results source, judge what came back, put the figures in.

``reading`` finds and checks the comments of one page, a ``build`` of pages asks a results source once for each distinct
query and judges what came back. No step raises for an author's mistake: each gives findings.
"""
