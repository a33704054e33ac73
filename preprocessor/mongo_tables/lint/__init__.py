"""The linter: finds what is wrong or misleading in a table, before its pipeline runs or, for some rules, in its rows.

``linter`` applies the rules of the ``*_rules`` modules to each comment of a site, and to the tables of each page.
``shape`` infers what documents look like. A rule that cannot be sure reports nothing.
"""
