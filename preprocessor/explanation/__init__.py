"""What a pipeline does, stage by stage: how many documents, which fields, the first rows, what was lost and why.

``explain`` (in ``explaining``) gives an ``Explanation``; ``terminal`` and ``plain`` write it for people and tools.
"""
