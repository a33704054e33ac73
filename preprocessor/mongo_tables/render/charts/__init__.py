"""Charts: rows → series → a drawing between axes, as inline SVG or as a file of its own."""
