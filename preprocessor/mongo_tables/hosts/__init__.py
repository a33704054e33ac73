"""The MkDocs plugin, the Markdown extension and the Sphinx extension: they read what hosts hand over, and return figures."""
