"""The linter: what is wrong or misleading in a table, found before its pipeline runs or, by some rules, in its rows.

``pages`` is the way over whole pages, ``looking`` over one comment, by the rules of the ``rules_`` modules. What a rule
knows of the documents comes from ``shape``. A rule that cannot know says nothing.
"""
