"""Names in the room that a drawing has: what all have in common is left out, and no two become one text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate, takewhile
from typing import Final

from mongo_tables.render.charts.elements import LETTER, break_text, text_width, wrap_text
from mongo_tables.render.markup import display_width

_SHARES: Final = (0.5, 0.0, 1.0)
"""The share of a cut name that its beginning keeps: cut in the middle, at the beginning, at the end."""
_STAYS: Final = re.compile(r"(?:[\[(]|\w+=)$")
_PART_END: Final = re.compile(r"(?<=[/:_.=,|\[-])(?![/:_.=,|\[-])|(?<=[a-z0-9])(?=[A-Z])")


def fit_names(names: Sequence[str], most: int) -> list[str]:
    """Return the names with at most ``most`` letters each.

    If one is longer, all lose what they begin or end with in common; then long ones are cut where they stay apart.

    Example:
        >>> fit_names(["tests/test_codec.py::test_trip[utf8]", "tests/test_codec.py::test_trip[ascii]"], 20)
        ['…[utf8]', '…[ascii]']
    """
    if all(display_width(name) <= most for name in names):
        return list(names)
    short = _without_common(names)
    found = [[_cut(name, most, share) for name in short] for share in _SHARES]
    return next((each for each in found if are_apart(names, each)), found[0])


def are_apart(names: Sequence[str], shown: Sequence[str]) -> bool:
    """Return whether no two different names are shown alike."""
    return len(set(shown)) == len(set(names))


def _without_common(names: Sequence[str]) -> list[str]:
    """Return the names with an ellipsis in place of the words with which all begin or end."""
    if len(set(names)) < 2:
        return list(names)
    start = _end_of_words(_common(names), names)
    rest = [name[start:] for name in names]
    end = _end_of_words(_common([name[::-1] for name in rest]), [name[::-1] for name in rest])
    # A bracket stays, and so does the name of a parameter: `…[utf8]`, `…n=5`.
    if stays := _STAYS.search(names[0][:start]):
        start = stays.start()
    before, after = "…" if start else "", "…" if end > 1 else names[0][len(names[0]) - end :]
    return [f"{before}{name[start : len(name) - end]}{after}" for name in names]


def _common(names: Sequence[str]) -> str:
    """Return what all names begin with."""
    return "".join(
        same.pop() for same in takewhile(lambda each: len(each) == 1, map(set, zip(*names, strict=False)))
    )


def _end_of_words(common: str, names: Sequence[str]) -> int:
    """Return how much of a common beginning are whole words of all names, each of which goes on."""
    for at in range(len(common), 0, -1):
        ends_word = not common[at - 1].isalnum() or all(not name[at : at + 1].isalnum() for name in names)
        if ends_word and all(name[at:] for name in names):
            return at
    return 0


def _cut(name: str, most: int, share: float) -> str:
    """Return a name of at most ``most`` letters, with three dots where it is cut; one letter of it remains."""
    if display_width(name) <= most:
        return name
    kept = max(most - 1, 1)
    head = sum(width <= kept * share for width in accumulate(map(display_width, name)))
    room = kept - display_width(name[:head])
    tail = sum(width <= room for width in accumulate(map(display_width, reversed(name))))
    tail = max(tail, 1 - head)
    return f"{name[:head]}…{name[len(name) - tail :]}"


def break_name(name: str, room: float) -> list[str]:
    """Break a name into lines that fit: at blanks, else behind the signs that end parts of paths and identifiers."""
    lines = wrap_text(name, room)
    if all(text_width(line) <= room for line in lines):
        return lines
    lines = [""]
    for piece in (piece for word in re.findall(r"\S+\s*|\s+", name) for piece in _pieces(word, room)):
        if text_width((lines[-1] + piece).rstrip()) <= room or not lines[-1]:
            lines[-1] += piece
        else:
            lines.append(piece)
    lines = [line.strip() for line in lines]
    return lines if all(text_width(line) <= room for line in lines) else break_text(name, room)


def _pieces(word: str, room: float) -> list[str]:
    return [word] if text_width(word) <= room else _PART_END.split(word)


def letters_in(room: float) -> int:
    """Return how many letters fit into a width."""
    return max(int(room / LETTER), 1)
