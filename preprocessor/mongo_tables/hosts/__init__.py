"""The MkDocs plugin, the Markdown extension and the Sphinx extension, which put figures into pages."""
