"""The cells of a table as HTML: their text, where it leads to, the value behind it, a bar or a shade."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from mongo_tables.aggregation.values import MISSING
from mongo_tables.directives.inline_markdown import Piece, has_link
from mongo_tables.render.cellpictures import bars, shades
from mongo_tables.render.column import Align, Column
from mongo_tables.render.inlinetext import inline_html, link_html
from mongo_tables.render.text import lines_html, text_html, with_minus_signs
from mongo_tables.render.values import is_number

STYLE: Final[Mapping[Align, str]] = {
    # As Python-Markdown and GitHub write it, so that every theme and no theme aligns these cells too.
    "left": "",
    "right": ' style="text-align: right;"',
    "center": ' style="text-align: center;"',
}
_BEHIND: Final = "The runs behind this row"


def label_cells(column: Column, anchors: Sequence[str], behind: Sequence[str]) -> list[str]:
    """The cells of the first column, which names its row, hence ``<th scope="row">``.

    Each leads to its row, by the ``anchors`` of rows, unless it leads elsewhere. There, too, is the link to what is
    ``behind`` the row.
    """
    own = column.links or ("",) * len(column.values)
    to = [one or (f"#{anchor}" if anchor else "") for one, anchor in zip(own, anchors or own, strict=True)]
    return _cells(column._replace(links=tuple(to)), "th", behind)


def value_cells(column: Column) -> list[str]:
    """The cells of any other column."""
    return _cells(column, "td")


def _cells(column: Column, tag: str, behind: Sequence[str] = ()) -> list[str]:
    start = f'<{tag} scope="row"' if tag == "th" else f"<{tag}"
    start += STYLE[column.align]
    shown = _contents(column)
    if any(behind):
        shown = (text + _link_behind(to) for to, text in zip(behind, shown, strict=True))
    if column.bar:
        shown = (text + _bar(part) for part, text in zip(bars(column.values), shown, strict=True))
    return [
        f"{start}{attributes}>{cell}</{tag}>"
        for attributes, cell in zip(_attributes(column), shown, strict=True)
    ]


def _contents(column: Column) -> Iterable[str]:
    """What stands in each cell, with where it leads to."""
    texts = list(map(_typeset, column.values, column.texts))
    shown: Iterable[str] = map(lines_html, texts)
    if column.fitted:
        shown = map(_part_unit, column.values, shown)
    if column.ranged:
        shown = map(_part_range, column.values, shown)
    if column.sign_meanings:
        shown = map(_explain_sign, shown, map(with_minus_signs, column.sign_meanings))
    if column.marked:
        shown = (inline_html(own) if own else text for own, text in zip(column.marked, shown, strict=True))
    if column.links:
        marked: Sequence[tuple[Piece, ...]] = column.marked or ((),) * len(column.links)
        shown = (
            text if has_link(own) else link_html(to, text)
            for to, text, own in zip(column.links, shown, marked, strict=True)
        )
    return shown


def _typeset(value: object, text: str) -> str:
    """A number, or what a comparison concludes, with minus signs; a text as it came."""
    if "-" not in text:  # Most cells: their values need no look.
        return text
    return with_minus_signs(text) if is_number(value) or isinstance(value, Mapping) else text


def _part_unit(value: object, text: str) -> str:
    """The unit of a cell in a box of its own, all as wide, so that the digits before them line up."""
    number, blank, unit = text.rpartition(" ")
    if not blank or "(" in text or not is_number(value):
        return text
    return f'{number} <span class="mongo-table__fitted">{unit}</span>'


def _part_range(value: object, text: str) -> str:
    """Behind a number its range may stand on a line of its own, where the table would be wider than the page."""
    return text.replace(" (", " <wbr>(") if is_number(value) else text


def _explain_sign(text: str, meaning: str) -> str:
    """The sign at the end of a text as an image with a name: read out in words, and explained to who points at it."""
    if not meaning:
        return text
    named = f'aria-label="{text_html(meaning)}" title="{text_html(meaning)}"'
    return f'{text[:-1]}<span role="img" {named}>{text[-1]}</span>'


def _link_behind(anchor: str) -> str:
    """Its sign comes from the style sheet, as that of a figure's link does."""
    told = f'title="{_BEHIND}" aria-label="{_BEHIND}"'
    return f'<a class="mongo-table__runs" href="#{text_html(anchor)}" {told}></a>' if anchor else ""


def _bar(part: float) -> str:
    return f'<span class="mongo-table__bar" style="width: {part * 100:.4g}%;"></span>'


def _attributes(column: Column) -> Iterable[str]:
    marked = column.marked or ((),) * len(column.values)
    texts = map(_typeset, column.values, column.texts)
    told = (
        _data(value, text if own else raw, text, column.reason)
        for value, raw, text, own in zip(column.values, column.raws, texts, marked, strict=True)
    )
    if not column.scale:
        return told
    strengths = shades(column.values, column.scale)
    return (_shade(strength) + data for strength, data in zip(strengths, told, strict=True))


def _shade(strength: int) -> str:
    side = "below" if strength < 0 else "shade"
    return f' class="mongo-table__{side}{abs(strength)}"' if strength else ""


def _data(value: object, raw: str, text: str, reason: str) -> str:
    """The value as it came, where the text is another; of Markdown the text is what is sorted by."""
    if value is MISSING:
        why = reason or "missing: the row has no such field"
        return f' data-t="missing" title="{text_html(why)}"'
    if value is None:
        return f' data-t="null" title="{text_html(reason or "null")}"'
    return "" if raw == text else f' data-v="{text_html(raw)}"'
