"""Where pages become a site: the MkDocs plugin, the Python-Markdown extension, and what both share."""
