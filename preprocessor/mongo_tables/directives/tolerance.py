"""How far a number that was written into a page may be from today's before it is out of date."""

from __future__ import annotations

from decimal import Decimal
from typing import Final, NamedTuple

_INTERVAL: Final = "interval"


class Tolerance(NamedTuple):
    """``share``: a part of the number that stands in the page; None where it must lie in today's interval."""

    share: Decimal | None = None

    @classmethod
    def of(cls, written: str) -> Tolerance:
        """What a comment says, valid against its schema: ``5 %`` or ``interval``."""
        return cls() if written == _INTERVAL else cls(Decimal(written.rstrip(" %")) / 100)
