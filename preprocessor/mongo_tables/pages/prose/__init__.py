"""Compares figures that people typed into sentences with the rows of the tables beside them.

``paragraphs`` finds the sentences of a page, ``numbers`` the figures in them with their units, ``evidence`` what the
tables of a section say, ``clauses`` and ``naming`` which rows and columns are named beside a figure, ``wordorder`` and
``pairs`` which of them it is about, ``support`` whether these say it, ``unsupported`` which figures nothing supports;
``typed`` finds the cell that says a figure, ``fixing`` puts a comment that quotes it in its place.
"""
