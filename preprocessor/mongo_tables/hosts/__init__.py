"""The MkDocs plugin, the Markdown extension and the Sphinx extension: pages of a host in, figures out."""
