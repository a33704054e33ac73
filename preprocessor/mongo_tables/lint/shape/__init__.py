"""Shape flow: what documents can look like, before and after every stage of a pipeline.

``values`` defines shapes. ``document_shapes`` derives shapes from documents or a schema. ``expressions``, ``operators``
and ``flow`` carry a shape through a pipeline; the result is a ``Flow``, which rules read. Rules rely on
one promise: a shape includes every kind and every field that a real document has. If nothing is known, the shape
allows everything.
"""
