"""The plugin for MkDocs and ProperDocs: it reads what they hand over, and puts figures into what they write."""
