"""Shape flow: what documents can look like, before and after every stage of a pipeline.

``values`` is the lattice. ``document_shapes`` derives shapes from documents or a schema. ``expressions``, ``operators``
and ``flow`` carry a shape through a pipeline; the result is a ``Flow``, which rules read. Every rule relies on one
promise: a shape never denies a kind or a field that a real document has. If nothing is known, a shape says that
anything is possible.
"""
