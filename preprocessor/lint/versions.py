"""Operators that the asked server is too old for: its complaint, put into words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from preprocessor.aggregation.catalogue import find

if TYPE_CHECKING:
    from preprocessor.aggregation.catalogue import Kind

_KINDS: Final[tuple[Kind, ...]] = ("stage", "expression", "accumulator", "window")
_UNKNOWN: Final = re.compile(r"(?:unrecognized|unknown)\b[^$]*(\$\w+)", re.IGNORECASE)


def since_hint(message: str) -> str:
    """What to say to a server's complaint about an operator that it does not know; nothing to any other complaint.

    A hint is given where MongoDB has the operator, since a version that the catalogue names.
    """
    named = _UNKNOWN.search(message)
    if named is None:
        return ""
    for kind in _KINDS:
        operator = find(kind, named[1])
        if operator is not None and operator.since:
            return f"`{named[1]}` came with MongoDB {operator.since}; this server is older"
    return ""
