"""Numbers in the text of pages: bound to a row, found in a table, exempt with a reason, or open."""
