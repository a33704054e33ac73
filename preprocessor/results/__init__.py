"""Where rows come from: a MongoDB deployment or documents on this machine, behind one protocol.

All sources answer the same ``Query`` with the same documents: values, BSON types, field order.
``open_source`` chooses by what it is given.
"""

from typing import TYPE_CHECKING, Any

from preprocessor.results.opening import is_uri, open_source

if TYPE_CHECKING:
    from preprocessor.results.model import Limits, Query, ResultsError, ResultsSource, Rows

__all__ = ["Limits", "Query", "ResultsError", "ResultsSource", "Rows", "is_uri", "open_source"]


def __getattr__(name: str) -> Any:
    """Imports the types when they are asked for: the help of a command, which lists the sources, needs none."""
    if name in __all__:
        from preprocessor.results import model

        return getattr(model, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
