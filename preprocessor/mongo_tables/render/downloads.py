"""The rows of a figure as downloads: CSV with the shown columns, JSON with the complete rows.

CSV (RFC 4180, UTF-8, no byte order mark) has the columns of the table with raw values, and units in the header. A
missing value is an empty field. A text that a spreadsheet would interpret as a formula gets a leading apostrophe, as
OWASP advises: https://owasp.org/www-community/attacks/CSV_Injection. Blanks and invisible characters do not hide a
formula, because other programs trim them. Numbers get no apostrophe.

JSON is relaxed MongoDB Extended JSON: the rows as the pipeline returned them, and the pipeline with all its stages.

CSV on the Web (https://www.w3.org/TR/tabular-data-primer/) describes the type and the meaning of each CSV column.
"""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from base64 import b64encode
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Final

from bson import json_util

from mongo_tables.aggregation.values import is_number
from mongo_tables.render.column import Column, Rows

if TYPE_CHECKING:
    from mongo_tables.directives.specs import TableSpec
    from mongo_tables.results.provenance import Provenance

_TYPES: Final = {"csv": "text/csv", "json": "application/json"}
_MOST_BYTES: Final = 12_000
"""The largest size, in bytes, of a file that is embedded in a page. A larger one would slow the page down."""
_RELAXED: Final = json_util.RELAXED_JSON_OPTIONS
_ENCODE: Final = json.JSONEncoder(
    ensure_ascii=False,
    allow_nan=False,
    check_circular=False,
    separators=(",", ":"),
    default=partial(json_util.default, json_options=_RELAXED),
).encode
_FORMULA: Final = frozenset("=+-@＝＋－＠﹦﹢﹣﹫")
"""Characters that begin a formula, including their full-width and small forms."""
_FIELD_ENDS: Final = ("\t", "\r", "\n")
_UNSEEN: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Me", "Mn", "Zl", "Zp", "Zs"})
"""Unicode categories of white space, invisible characters and combining marks."""
_BLANK: Final = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and signs that are drawn blank: Hangul fillers and the empty Braille pattern."""


def csv_text(columns: Sequence[Column]) -> str:
    """Return the columns of a table as CSV with a header. Lines end in ``\\r\\n``."""
    header: list[str] = []
    fields: list[list[str]] = []
    text = io.StringIO()
    for shown in columns:
        for column in (shown, *shown.for_files):
            header.append(_safe(column.file_header))
            cells = []
            for value, raw in zip(column.values, column.raws, strict=True):
                cells.append(raw if is_number(value) else _safe(raw))
            fields.append(cells)
    csv.writer(text).writerows([header, *zip(*fields, strict=True)])
    return text.getvalue()


def csvw_text(columns: Sequence[Column], title: str | None, meanings: Mapping[str, str], url: str) -> str:
    """Return the description of a CSV file as JSON, in the terms of CSV on the Web.

    ``url`` is the address of the CSV file relative to the description. ``meanings`` explains columns by name.
    """
    described = [
        {"titles": _safe(column.file_header), "datatype": _datatype(column)}
        | ({"dc:description": meanings[column.name]} if column.name in meanings else {})
        for shown in columns
        for column in (shown, *shown.for_files)
    ]
    about = {"@context": "http://www.w3.org/ns/csvw", "url": url}
    about |= {"dc:title": title} if title else {}
    return json.dumps(about | {"tableSchema": {"columns": described}}, ensure_ascii=False, indent=1) + "\n"


_NUMBER: Final = re.compile(r"-?\d+(\.\d+)?(e[-+]?\d+)?", re.IGNORECASE)


def _datatype(column: Column) -> str:
    """Return the CSVW datatype that fits all values of a column."""
    present = [(value, raw) for value, raw in zip(column.values, column.raws, strict=True) if raw]
    if present and all(is_number(value) and _NUMBER.fullmatch(raw) for value, raw in present):
        return "integer" if all(isinstance(value, int) for value, _ in present) else "number"
    for kind, name in ((bool, "boolean"), (datetime, "dateTime")):
        if present and all(isinstance(value, kind) for value, _ in present):
            return name
    return "string"


def _safe(text: str) -> str:
    first = text[:1]
    if not first.isalnum() or first in _BLANK:  # Most texts begin with a visible letter or digit.
        seen = (one for one in text if one not in _BLANK and unicodedata.category(one) not in _UNSEEN)
        first = next(seen, "")
    return f"'{text}" if text.startswith(_FIELD_ENDS) or first in _FORMULA else text


def json_text(spec: TableSpec, rows: Rows, source: Provenance | None) -> str:
    """Return a figure's rows and their provenance as one JSON document with a line for each row."""
    columns = []
    for name, header in zip(spec.columns, spec.headers, strict=True):
        form = spec.format.get(name)
        unit = {"unit": form.raw_unit} if form and form.raw_unit else {}
        columns.append({"name": name, "header": header} | unit)
    keys: dict[str, object] = {
        "columns": columns,
        "collection": spec.collection,
        "pipeline": list(spec.pipeline),
    }
    keys |= {"let": dict(spec.let)} if spec.let else {}
    lines = [f'"title": {_to_extended_json(spec.title)}'] if spec.title else []
    lines += (
        [f'"provenance": {_sets(source)}'] if source is not None and (source.documents or source.sets) else []
    )
    for key, value in keys.items():
        lines.append(f'"{key}": {_to_extended_json(value)}')
    body = ",\n".join(map(_to_extended_json, rows))
    return "{\n" + ",\n".join([*lines, f'"rows": [\n{body}\n]']) + "\n}\n"


@lru_cache(maxsize=256)
def _sets(source: Provenance) -> str:
    """Return ``source.sets`` as JSON. The result is cached, because many figures share it and it can be longer than the
    rows.
    """
    return _to_extended_json(list(source.sets))


def _to_extended_json(value: object) -> str:
    try:
        return _ENCODE(value)
    except ValueError:  # NaN and the infinities have their own notation.
        return json_util.dumps(value, json_options=_RELAXED, ensure_ascii=False, separators=(",", ":"))


def data_address(name: str, text: str) -> str:
    """Return a file as a data URL, for a page that cannot link to files, or "" if the file is too large."""
    content = text.encode("utf-8", "replace")
    if len(content) > _MOST_BYTES:
        return ""
    kind = _TYPES[name.rpartition(".")[2]]
    return f"data:{kind};charset=utf-8;base64,{b64encode(content).decode('ascii')}"
