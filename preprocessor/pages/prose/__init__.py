"""Compares figures that people typed into sentences with the rows of the tables beside them.

``paragraphs`` finds the sentences of a page, ``numbers`` the figures in them with their units, ``evidence`` what the
tables of a section say, ``unsupported`` which figures nothing there supports; ``typed`` finds the cell that says a
figure, ``fixing`` puts a comment that quotes it in its place.
"""
