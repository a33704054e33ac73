"""A language server that gives editors completion, hovers, findings and fixes for pages and pipelines.

Only ``protocol`` and ``server`` handle the protocol; the other modules take texts and positions, and return plain data.
``project`` holds the edited files, and judges them as ``check`` does.
"""
