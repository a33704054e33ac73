"""Where rows come from: a MongoDB deployment or documents on this machine, behind one protocol.

All sources answer the same ``Query`` with the same documents: values, BSON types, field order.
``open_source`` chooses by what it is given.
"""

from preprocessor.results.model import Limits, Query, ResultsError, ResultsSource, Rows
from preprocessor.results.opening import is_uri, open_source

__all__ = ["Limits", "Query", "ResultsError", "ResultsSource", "Rows", "is_uri", "open_source"]
