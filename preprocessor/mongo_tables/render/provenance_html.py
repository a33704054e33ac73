"""What stands under a figure of a site: where its rows come from, as files to take away, and how it was made.

One line in sight; what else is told, the command, the pipeline and the single runs are folded away. Search engines
that heed ``data-search-exclude`` pass over all of it: a pipeline is no answer to anybody's search.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from mongo_tables.directives.pipelines import STAGES
from mongo_tables.render.markup import text_html
from mongo_tables.render.provenance import (
    due_part,
    provenance_commands,
    provenance_details,
    provenance_parts,
    whose_runs,
)
from mongo_tables.render.runs import amount_of, lines_of

if TYPE_CHECKING:
    from mongo_tables.directives.specs import TableSpec
    from mongo_tables.render.runs import ListedRuns
    from mongo_tables.results.provenance import Provenance

_WIDTH: Final = 96
_JSON: Final = json.JSONEncoder(ensure_ascii=False).encode


@dataclass(frozen=True, slots=True)
class ProvenanceBlock:
    """The contents of the block under a figure: its provenance if any, and links, kind of file → address.

    ``runs`` is the list of single runs, None where there are none, or too many; or where an earlier figure of the same
    page, whose anchor is ``runs_at``, lists them already.
    """

    source: Provenance | None
    links: Mapping[str, str]
    runs: ListedRuns | None = None
    runs_at: str | None = None


def provenance_html(spec: TableSpec, made: ProvenanceBlock) -> str:
    """The HTML under a figure."""
    parts = list(_parts(made.source, spec.max_age)) if made.source else []
    for kind, to in made.links.items():
        name = f"{kind}: rows of {spec.title or spec.id or 'this figure'}"
        saved = f' download="{text_html(spec.id or "rows")}.{kind.lower()}"' if to.startswith("data:") else ""
        parts.append(f'<a href="{text_html(to)}"{saved} aria-label="{text_html(name)}">{kind}</a>')
    shown = f"<p>{' · '.join(parts)}</p>\n" if parts else ""
    fold = "\n".join(_fold(spec, made))
    return f'<div class="mongo-table__source" data-search-exclude>\n{shown}{fold}\n</div>'


def _parts(source: Provenance, max_age: int | None) -> Iterator[str]:
    """The parts of the line as HTML; a script can read the day after which the results are too old."""
    due = source.due(max_age)
    for part in provenance_parts(source, due):
        text = text_html(part)
        is_due = due is not None and part == due_part(due)
        yield f'<time class="mongo-table__due" datetime="{due}">{text}</time>' if is_due else text


def _fold(spec: TableSpec, made: ProvenanceBlock) -> Iterator[str]:
    yield "<details>"
    yield "<summary>How it was made</summary>"
    details = provenance_details(made.source) if made.source else ()
    if details:
        yield from ("<ul>", *(f"<li>{name}: {text_html(text)}</li>" for name, text in details), "</ul>")
    commands = provenance_commands(made.source) if made.source else []
    if commands:
        written = "<br>\n".join(f"<code>{text_html(command)}</code>" for command in commands)
        yield f"<p>Measured by<br>\n{written}</p>"
    collection = f"the collection <code>{text_html(spec.collection)}</code>"
    label, said = "Pipeline", f"This pipeline over {collection} gives the rows:"
    if not spec.has_own_pipeline:
        label, said = "Selection", f"The rows are these documents of {collection}:"
    label = f"{label} of {spec.title or spec.id or 'this figure'}"
    yield f"<p>{said}</p>"
    # As the comment has it, names of shared stages and all; the JSON file has them in place.
    body = spec.comment.parsed.value
    rows_from = body.get("pipeline", {key: body[key] for key in STAGES if key in body})
    code = text_html("\n".join(_lay_out(rows_from, "", "", top=True)))
    yield f'<pre tabindex="0" role="group" aria-label="{text_html(label)}"><code>{code}</code></pre>'
    yield from _runs(made)
    yield "</details>"


def _lay_out(value: Any, before: str, after: str, *, top: bool = False) -> Iterator[str]:
    """JSON in lines: what fits into one stands on one, but each stage begins a line of its own."""
    line = before + _JSON(value) + after
    if not value or not isinstance(value, (dict, list)) or (len(line) <= _WIDTH and not top):
        yield line
        return
    indent = before[: len(before) - len(before.lstrip())] + "  "
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    items = [(f"{_JSON(key)}: ", one) for key, one in value.items()] if isinstance(value, dict) else None
    yield before + opening
    for left, (name, inner) in enumerate(items or [("", one) for one in value], 1 - len(value)):
        yield from _lay_out(inner, indent + name, "," if left else "")
    yield indent[:-2] + closing + after


def _runs(made: ProvenanceBlock) -> Iterator[str]:
    whose = text_html(whose_runs(made.source.sets)) if made.source else ""
    runs = made.source.runs if made.source else ()
    if made.runs is not None:
        yield f"<p>The single runs behind the rows{whose}:</p>"
        yield made.runs.html
    elif runs and made.runs_at:
        yield f'<p>The single runs: under <a href="#{text_html(made.runs_at)}">an earlier figure</a>.</p>'
    elif runs:
        yield f"<p>Behind the rows are {amount_of(lines_of(runs))}{whose}: too many to list here.</p>"
