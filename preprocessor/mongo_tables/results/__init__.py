"""Results sources: a MongoDB deployment or documents on this machine, behind one protocol.

All sources answer the same ``Query`` with the same documents: equal values, BSON types and field order. ``open_source``
chooses the source from the text that names it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mongo_tables.results.guards import Limits
    from mongo_tables.results.model import Query, ResultsError, ResultsSource, Rows
    from mongo_tables.results.opening import is_uri, open_source

__all__ = ["Limits", "Query", "ResultsError", "ResultsSource", "Rows", "is_uri", "open_source"]
_MODULES = {"Limits": "guards", "is_uri": "opening", "open_source": "opening"}


def __getattr__(name: str) -> Any:
    """Import a public name on first use, because help texts and the pytest plugin need few of them."""
    if name in __all__:
        return getattr(import_module(f"{__name__}.{_MODULES.get(name, 'model')}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
