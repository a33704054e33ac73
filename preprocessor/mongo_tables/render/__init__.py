"""Rendering of rows as HTML and Markdown tables, and as SVG charts."""
