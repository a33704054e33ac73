"""The rows of a figure as files to take away: CSV of what is shown, JSON of everything.

CSV (RFC 4180, UTF-8, no byte order mark) has the columns of the table, values as they came, and units in its header;
what a row does not have is an empty field. A text that a spreadsheet would take for a formula has an apostrophe
before it, as OWASP advises: https://owasp.org/www-community/attacks/CSV_Injection. Numbers have none. Blanks and what
nobody sees before a formula do not hide it: programs on the way to a spreadsheet trim them.

JSON is relaxed MongoDB Extended JSON: the rows as the pipeline gave them, nothing rounded or left out, with the
pipeline itself, its shared stages in place.
"""

from __future__ import annotations

import csv
import io
import json
import unicodedata
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, Any, Final

from mongo_tables.render.column import Column, column_value
from mongo_tables.render.columns import columns_of
from mongo_tables.render.values import is_number, raw_or_nothing

if TYPE_CHECKING:
    from mongo_tables.directives.specs import TableSpec
    from mongo_tables.results.provenance import Provenance

Rows = Sequence[Mapping[str, Any]]

_TYPES: Final = {"csv": "text/csv", "json": "application/json"}
_MOST_BYTES: Final = 12_000
"""Of one file within a page: more would weigh on every reader for the few who take it."""
_FORMULA: Final = frozenset("=+-@＝＋－＠﹦﹢﹣﹫")
"""Signs that begin a formula, with their wide and their small forms."""
_FIELD_ENDS: Final = ("\t", "\r", "\n")
_UNSEEN: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Me", "Mn", "Zl", "Zp", "Zs"})
"""Categories of characters that are white, invisible, or mere marks on the one before."""
_BLANK: Final = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and signs that have no ink: fillers of Hangul, the empty Braille pattern."""


def csv_text(spec: TableSpec, rows: Rows, columns: Sequence[Column] | None = None) -> str:
    """The table as CSV: one line for each row below the header, lines end in ``\\r\\n``.

    ``columns`` are those of ``columns_of``, where they are known already.
    """
    columns = list(_with_ranges(spec, rows, columns or columns_of(spec, rows)))
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(_safe(column.file_header) for column in columns)
    fields = (
        [
            raw if is_number(value) else _safe(raw)
            for value, raw in zip(column.values, column.raws, strict=True)
        ]
        for column in columns
    )
    writer.writerows(zip(*fields, strict=True))
    return text.getvalue()


def _with_ranges(spec: TableSpec, rows: Rows, columns: Sequence[Column]) -> Iterator[Column]:
    """The columns of the table, each with a range or an interval followed by those of its ends."""
    for column in columns:
        percent = not column.name and spec.baseline is not None and spec.baseline.get("as") != "ratio"
        yield column._replace(unit="%") if percent else column
        yield from column.for_files
        fields = spec.spread.get(column.name, ())
        for end, name in zip(("from", "to"), fields, strict=False):
            values = tuple(column_value(row, name) for row in rows)
            raws = tuple(map(raw_or_nothing, values))
            yield column._replace(header=f"{column.header}, {end}", values=values, raws=raws, name=name)


def _safe(text: str) -> str:
    return f"'{text}" if text.startswith(_FIELD_ENDS) or _first_seen(text) in _FORMULA else text


def _first_seen(text: str) -> str:
    """The first character that leaves ink; "" where none does."""
    if text[:1].isalnum() and text[0] not in _BLANK:  # Most texts: no need to look anything up.
        return text[0]
    return next((one for one in text if one not in _BLANK and unicodedata.category(one) not in _UNSEEN), "")


def json_text(spec: TableSpec, rows: Rows, source: Provenance | None) -> str:
    """What the figure shows and where it comes from, as one JSON document with a line for each row."""
    units = {name: form.raw_unit for name, form in spec.format.items()}
    columns = [
        {"name": name, "header": header} | ({"unit": units[name]} if units.get(name) else {})
        for name, header in zip(spec.columns, spec.headers, strict=True)
    ]
    keys: dict[str, object] = {
        "columns": columns,
        "collection": spec.collection,
        "pipeline": list(spec.pipeline),
    }
    keys |= {"let": dict(spec.let)} if spec.let else {}
    head = {"title": _to_extended_json(spec.title)} if spec.title else {}
    head |= {"provenance": _sets(source)} if source is not None and source.documents else {}
    head |= {key: _to_extended_json(value) for key, value in keys.items()}
    body = ",\n".join(map(_to_extended_json, rows))
    lines = [f'"{key}": {text}' for key, text in head.items()]
    return "{\n" + ",\n".join([*lines, f'"rows": [\n{body}\n]']) + "\n}\n"


@lru_cache(maxsize=256)
def _sets(source: Provenance) -> str:
    """Once for all figures with this provenance: it can be longer than their rows."""
    return _to_extended_json(list(source.sets))


def _to_extended_json(value: object) -> str:
    try:
        return _encoder()(value)
    except ValueError:  # NaN and the infinities have a notation of their own.
        from bson import json_util

        options = json_util.RELAXED_JSON_OPTIONS
        return json_util.dumps(value, json_options=options, ensure_ascii=False, separators=(",", ":"))


@cache
def _encoder() -> Callable[[object], str]:
    from bson import json_util

    default = partial(json_util.default, json_options=json_util.RELAXED_JSON_OPTIONS)
    encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=default)
    return encoder.encode


def data_address(name: str, text: str) -> str:
    """The file itself as an address, for pages that nothing can be put beside; "" when it is too large for that."""
    content = text.encode("utf-8", "replace")
    if len(content) > _MOST_BYTES:
        return ""
    kind = _TYPES[name.rpartition(".")[2]]
    return f"data:{kind};charset=utf-8;base64,{b64encode(content).decode('ascii')}"
