"""Numbers in the text of pages: bound by a comment, found in a table, exempt with a reason, or open."""
