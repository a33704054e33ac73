"""Pages to figures: read the comments of pages, ask the results source, judge what came back, put the figures in.

``reading`` finds and checks the comments of one page, ``asking`` asks a results source once for each distinct query,
``judging`` judges what came back. No step raises for an author's mistake: each gives findings.
"""
