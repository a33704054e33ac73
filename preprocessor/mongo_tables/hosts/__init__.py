"""The MkDocs plugin and the Markdown extension: they read what hosts hand over, and return figures."""
