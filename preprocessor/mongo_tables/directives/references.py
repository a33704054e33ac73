"""Checks across specs: duplicate ids, and names of tables that do not exist."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from mongo_tables.directives.specs import PipelineSpec, Spec
from mongo_tables.findings.finding import Finding, did_you_mean
from mongo_tables.findings.rules import finding
from mongo_tables.jsontext.reader import Parsed, parse

_ID = r"""\bid["']?\s*:\s*("(?:[^"\\\n]|\\.)*")"""


def duplicate_ids(pages: Iterable[tuple[str, Iterable[Spec | None]]]) -> list[Finding]:
    """Return a finding for each table or chart whose id is already the id of another comment on any page.

    ``pages`` are paths with the specs of their comments. A comment in a file that several pages include is one
    table.
    """
    first: dict[str, tuple[str, PipelineSpec]] = {}
    found = []
    for page, specs in pages:
        here: dict[str, PipelineSpec] = {}
        for spec in specs:
            if not isinstance(spec, PipelineSpec) or spec.id is None:
                continue
            where, elsewhere = first.setdefault(spec.id, (page, spec))
            if spec.id in here:
                found.append(_report_taken_id(spec, here[spec.id], page))
            elif where != page and spec.comment[:2] != elsewhere.comment[:2]:  # keyword and body
                found.append(_report_taken_id(spec, elsewhere, page))
            here.setdefault(spec.id, spec)
    return found


def _report_taken_id(spec: PipelineSpec, earlier: PipelineSpec, page: str) -> Finding:
    place = f"{earlier.file}, line {earlier.locate(('id',))[0]}"
    message, hint = f"the id `{spec.id}` is already used: {place}", "give one of them another id"
    if spec is earlier:
        message, hint = f"the id `{spec.id}` is on {page} twice", f"include {spec.file} in a page only once"
    return finding("MT138", spec.file, spec.locate(("id",)), message, hint)


_GUESSED = 100
"""The maximum number of unknown ids with a suggestion, because each is compared with all ids."""


def unknown_tables(specs: Iterable[Spec], known: Iterable[str]) -> list[Finding]:
    """Return a finding for each value or check that names a table whose id is not in ``known``.

    ``known`` should include the ids of tables with faults (``find_written_ids``), because these faults are reported
    anyway.
    """
    ids = frozenset(known)
    found: list[Finding] = []
    for one in (quote for spec in specs for quote in spec.quotes):
        if one.table not in ids:
            near = did_you_mean(one.table, ids) if len(found) < _GUESSED else ""
            hint = near or 'a table gets its id by the key "id"; tables on excluded pages do not count'
            message = f"unknown table id `{one.table}`"
            found.append(finding("MT139", one.file, one.locate(("table",)), message, hint))
    return found


def find_written_ids(parsed: Parsed) -> list[str]:
    """Return the id in a comment's body or, if the body is not valid JSON, all texts that may be its id."""
    if not parsed.readable:
        return [json.loads(found) for found in re.findall(_ID, parsed.text) if parse(found).problems == ()]
    written = parsed.value.get("id") if isinstance(parsed.value, dict) else None
    return [written] if isinstance(written, str) else []
