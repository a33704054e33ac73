"""How far a site is whose pages are made one by one (``pagebypage``)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Final

# Whatever else they find costs time, and is no fault.
_QUOTES: Final = re.compile(r'"table"\s*:\s*"([^"\\]+)"')
_HAS: Final = re.compile(r'"id"\s*:\s*"([^"\\]+)"')


class PageByPage:
    """How far a site is: which pages with comments did not come yet, and which tables are still to be quoted."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.waiting = set(texts)
        self.lasting = True
        self.quoted = Counter(name for text in texts.values() for name in _QUOTES.findall(text))
        self.ids: set[str] = set()
        self._homes = {
            name: page for page, text in texts.items() for name in _HAS.findall(text) if name in self.quoted
        }

    def home_of(self, table: str) -> str | None:
        """The page that seems to have a quoted table."""
        return self._homes.get(table)
