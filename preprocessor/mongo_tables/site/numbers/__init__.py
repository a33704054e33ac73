"""Numbers in the text of pages: which are bound to a row, found in a table, exempt with a reason, or open."""
