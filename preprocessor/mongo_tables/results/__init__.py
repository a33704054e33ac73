"""Where rows come from: a MongoDB deployment or documents on this machine, behind one protocol.

All sources answer the same ``Query`` with the same documents: values, BSON types, field order.
``open_source`` chooses by what it is given.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mongo_tables.results.limits import Limits
    from mongo_tables.results.model import Query, ResultsError, ResultsSource, Rows
    from mongo_tables.results.opening import is_uri, open_source

__all__ = ["Limits", "Query", "ResultsError", "ResultsSource", "Rows", "is_uri", "open_source"]
_MODULES = {"Limits": "limits", "is_uri": "opening", "open_source": "opening"}


def __getattr__(name: str) -> Any:
    """Import what is asked for: a help text needs no types, and a run of pytest loads what its plugins import."""
    if name in __all__:
        return getattr(import_module(f"{__name__}.{_MODULES.get(name, 'model')}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
