"""Charts of rows, drawn as inline SVG or as a separate file."""
