"""Parsers of JSON text (with the position of each value), MongoDB's Extended JSON, and values in mongosh's notation."""

from typing import Final

Path = tuple[str | int, ...]
"""The keys and list indexes that lead from the root, ``()``, to a value."""

MAX_DEPTH: Final = 100
"""The deepest nesting of a value. MongoDB accepts "no more than 100 levels of nesting for BSON documents".

https://www.mongodb.com/docs/manual/reference/limits/#mongodb-limit-Nested-Depth-for-BSON-Documents
"""
