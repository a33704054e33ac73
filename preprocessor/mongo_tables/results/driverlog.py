"""Silences the tracebacks that the driver prints from its background threads.

PyMongo tells of a fault in a thread of its own by a traceback on standard error, beside whatever the call that failed
raises. Users get the one line about that; who asks the driver's log for its details (level DEBUG) gets both.
"""

from __future__ import annotations

import logging
from typing import Final

_LOGGER: Final = "pymongo.client"
_BACKGROUND: Final = "background task"


def keep_to_one_line() -> None:
    """Silence the driver's tracebacks about background threads; may be called more than once."""
    logging.getLogger(_LOGGER).addFilter(_is_asked_for)  # the same function is kept once


def _is_asked_for(record: logging.LogRecord) -> bool:
    return _BACKGROUND not in str(record.msg) or logging.getLogger(_LOGGER).isEnabledFor(logging.DEBUG)
