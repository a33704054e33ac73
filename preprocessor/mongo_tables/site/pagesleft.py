"""How far a site is whose pages are made one by one (``pagebypage``)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from mongo_tables.site.buildcache import hash_text
from mongo_tables.site.spool import Spool

if TYPE_CHECKING:
    from mongo_tables.site.keptpages import KeptPage

# Whatever else they find costs time, and is no fault.
_QUOTES: Final = re.compile(r'"table"\s*:\s*"([^"\\]+)"')
_HAS: Final = re.compile(r'"id"\s*:\s*"([^"\\]+)"')


class PageByPage:
    """How far a site is: which pages with comments did not come yet, and which tables are still to be quoted.

    Of ``kept`` pages of an earlier build those are ``unchanged`` that are the same on disk, as are the pages of the
    tables that they quote; those that came again as they were are ``taken_over``.
    """

    def __init__(self, texts: Mapping[str, str], kept: Mapping[str, KeptPage]) -> None:
        self.waiting = set(texts)
        self.lasting = True
        self.quoted = Counter(name for text in texts.values() for name in _QUOTES.findall(text))
        self.ids: set[str] = set()
        self._homes = {
            name: page for page, text in texts.items() for name in _HAS.findall(text) if name in self.quoted
        }
        same = {name: page for name, page in kept.items() if page.text == hash_text(texts.get(name, ""))}
        there = {table for page in same.values() for table in page.ids}
        self.unchanged = {name: page for name, page in same.items() if there.issuperset(page.quoted)}
        self.taken_over: dict[str, KeptPage] = {}
        self.spool = Spool()

    def take_over(self, name: str, page: KeptPage) -> None:
        """Have a page done as it was kept."""
        self.taken_over[name] = page
        self.waiting.discard(name)
        self.ids.update(page.ids)
        self.quoted.subtract(page.quoted)

    def may_be_read(self, name: str) -> bool:
        """Whether a page that nobody holds is to be read for its tables; others have been, and are done."""
        return name in self.waiting or name in self.taken_over

    def home_of(self, table: str) -> str | None:
        """The page that seems to have a quoted table."""
        return self._homes.get(table)
