"""Shape flow: what documents can look like, before and after every stage of a pipeline.

``values`` is the lattice, ``learn`` where shapes come from (documents, a schema), ``expressions`` and ``stages``
carry a shape through a pipeline, ``flow`` is the result that rules read. The promise on which every rule
stands: a shape never denies a kind or a field that a real document has. Where nothing can be known, a shape
says that anything is possible.
"""
