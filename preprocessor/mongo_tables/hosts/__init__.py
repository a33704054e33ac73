"""The plugin for MkDocs and the Markdown extension: they read what hosts hand over, and give figures."""
