"""Where rows come from: a MongoDB deployment or documents on this machine, behind one protocol.

All sources answer the same ``Query`` with the same documents: values, BSON types, field order.
``open_source`` chooses by what it is given.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mongo_tables.results.model import Limits, Query, ResultsError, ResultsSource, Rows
    from mongo_tables.results.opening import is_uri, open_source

__all__ = ["Limits", "Query", "ResultsError", "ResultsSource", "Rows", "is_uri", "open_source"]


def __getattr__(name: str) -> Any:
    """Imports what is asked for: a help text needs no types, and a run of pytest loads what its plugins import."""
    if name in __all__:
        from importlib import import_module

        where = "opening" if name in ("is_uri", "open_source") else "model"
        return getattr(import_module(f"{__name__}.{where}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
