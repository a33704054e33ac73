"""Names that stand in a text as words, each found by the rarest of its own: a table may have thousands of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from mongo_tables.pages.prose.paragraphs import BLANK

_WORD: Final = re.compile(r"\w+")


class NamePlace(NamedTuple):
    """Where a name stands in a text, from and to."""

    start: int
    end: int
    name: str


class NameIndex:
    """Some names, of which those without a letter are none."""

    def __init__(self, names: Iterable[str]) -> None:
        words = {name: _words(name) for name in names if any(map(str.isalpha, name))}
        common = Counter(word for own in words.values() for word in own)
        self._by_word: dict[str, list[tuple[int, str]]] = {}
        for name, own in words.items():
            rarest = min(own, key=lambda word: (common[word], word))
            self._by_word.setdefault(rarest, []).append((-len(name), name))

    def find(self, text: str, *, whole: bool, any_case: bool = True) -> list[str]:
        """The names in a text, the longest first; ``whole``: without those that are a part of a longer one there."""
        places = self._list_places(text, whole=whole, any_case=any_case)
        return list(dict.fromkeys(one.name for one in places))

    def find_places(self, text: str) -> list[NamePlace]:
        """Every place of the names in a text, in order, without those that are a part of a longer one there."""
        return sorted(self._list_places(text, whole=True, any_case=True))

    def _list_places(self, text: str, *, whole: bool, any_case: bool) -> Iterator[NamePlace]:
        flags = re.IGNORECASE if any_case else re.NOFLAG
        for _, name in sorted(one for word in _words(text) for one in self._by_word.get(word, ())):
            pattern = name_pattern(name)
            yield from (NamePlace(*one.span(), name) for one in re.finditer(pattern, text, flags))
            if whole:
                text = re.sub(pattern, lambda one: BLANK * len(one[0]), text, flags=flags)


def name_pattern(name: str) -> str:
    """The pattern of a name that stands as words; `lib-1` is none in `lib-1.5`, nor `Join/plus` in `Join/plus/cold`."""
    number = r"(?![.,-]\d)" if name[-1:].isdigit() else ""
    path = r"(?!/\w)" if "/" in name else ""
    return rf"(?<!\w){re.escape(name)}(?!\w){number}{path}"


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))
