"""``mongo-tables review``: which numbers a pull request changes, and the comment that tells its reviewers.

``reviewing`` has its two steps: compare and write, and post. ``event`` reads what GitHub Actions say of the pull
request, ``basecommit`` finds what it is compared with, ``composing`` writes the comment, ``hostmarkdown`` escapes what
stands in it, ``api`` and ``posting`` bring it there.
"""
