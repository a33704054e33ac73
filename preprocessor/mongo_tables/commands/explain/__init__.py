"""``mongo-tables explain``: what a pipeline does, stage by stage: documents, fields, first rows, what was lost and why.

``explain`` (in ``explaining``) gives an ``Explanation``; ``terminal`` and ``asjson`` write it for people and tools.
"""
