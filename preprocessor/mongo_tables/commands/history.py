"""``mongo-tables history``: the speed of each row over campaigns, and its changes."""

from __future__ import annotations

import tomllib
from argparse import Namespace
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import closing
from fnmatch import fnmatchcase
from itertools import groupby
from math import inf
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, NamedTuple

from mongo_tables.commands.compare import read_rows
from mongo_tables.commands.compare.wording import say_amount, say_number
from mongo_tables.findings.reporters import format_count
from mongo_tables.findings.usage import CommandError
from mongo_tables.render.markup import align
from mongo_tables.results.comparison import PER_SECOND, name_row
from mongo_tables.results.history import HistoryPoint, HistorySeries, LevelChange, list_series
from mongo_tables.results.intervals import Interval
from mongo_tables.results.revisions import list_revisions
from mongo_tables.results.verdicts import Verdict, describe_interval
from mongo_tables.runner.store import open_store


def run(arguments: Namespace) -> int:
    """Print the series. With ``--fail``, return 1 if a change has no known reason.

    Raises CommandError if there is nothing to show, or if a file or a revision cannot be read.
    """
    known = read_known(arguments.known) if arguments.known else []
    revisions = list_revisions(arguments.revisions) if arguments.revisions else []
    if not (arguments.campaigns or revisions):
        raise CommandError("no campaign is named", "name one or more, such as fixtures/campaigns/*")
    wanted = arguments.experiment or ["*"]
    rows = read_campaigns(arguments.campaigns, revisions)
    asked = [row for row in rows if any(fnmatchcase(row["_id"]["testname"], one) for one in wanted)]
    series = list_series(asked, ratios=arguments.ratio)
    if not series:
        raise CommandError("no row has a ratio to a reference" if arguments.ratio else "no row has a speed")
    if arguments.write:
        measure = "ratio" if arguments.ratio else "speed"
        documents = sorted(list_documents(series, known, measure), key=itemgetter("experiment"))
        with closing(open_store(arguments.write)) as store:
            for experiment, some in groupby(documents, itemgetter("experiment")):
                store.put_history(experiment, measure, list(some))
    print("\n".join(format_text(series, known, points=arguments.points, ratios=arguments.ratio)))
    unknown = any(
        find_known(one.name, change.point.campaign, known) is None for one in series for change in one.changes
    )
    return int(arguments.fail and unknown)


_DIGITS: Final = 12
"""The number of digits of a shortened commit, which is used as the name of a campaign."""
_NEEDED: Final = ("row", "campaign", "reason")


Document = dict[str, Any]
Rows = list[dict[str, Any]]


def read_campaigns(places: Iterable[str], revisions: Sequence[str]) -> Rows:
    """Read the rows of all places, including replaced ones, and of ``revisions`` (``REVISION:FOLDER``, newest first).

    A row without a campaign gets one: the oldest commit that contains the row. Raises CommandError as ``read_rows``
    does, and for a row without a date.
    """
    committed = [(revision, read_rows(revision, None)) for revision in revisions]
    rows = [row for place in places for row in read_rows(place, None, with_replaced=True)]
    rows += [row for _, some in committed for row in some]
    undated = next((row for row in rows if "start_time" not in row), None)
    if undated is not None:  # files of benchmark tools may lack a date
        raise CommandError(
            f"{name_row(undated)} has no date",
            "import its file with the date: mongo-tables import FILE --as NAME --date 2026-01-31",
        )
    names = {_key_of(row): revision[:_DIGITS] for revision, some in committed for row in some}
    for place, row in enumerate(rows):
        campaign, name = row.get("campaign") or {}, names.get(_key_of(row))
        if not campaign.get("id") and name is not None:
            rows[place] = {**row, "campaign": {**campaign, "id": name}}
    return rows


def _key_of(row: dict[str, Any]) -> Hashable:
    """Return the identity of a row, which is the same in all commits."""
    return row["_id"]["testname"], row["start_time"]


class Known(NamedTuple):
    """A change with a known reason: rows whose names match ``row`` have another level from ``campaign`` on."""

    row: str
    campaign: str
    reason: str
    ticket: str = ""


def read_known(file: str) -> list[Known]:
    """Read the known changes in a file. Raises CommandError for an invalid file."""
    try:
        read = tomllib.loads(Path(file).read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise CommandError(f"{file}: {getattr(error, 'strerror', None) or error}") from None
    changes = read.get("change", [])
    hint = "see mongo-tables history --help"
    if set(read) - {"change"} or not isinstance(changes, list):
        raise CommandError(f"{file}: it must have only tables [[change]]", hint)
    for number, one in enumerate(changes, 1):
        if not {*_NEEDED} <= set(one) <= {*Known._fields} or not all(
            isinstance(text, str) for text in one.values()
        ):
            message = f"{file}: change {number} needs {', '.join(_NEEDED)} and may have a ticket, all of them strings"
            raise CommandError(message, hint)
    return [Known(**one) for one in changes]


def find_known(row: str, campaign: str, known: Sequence[Known]) -> Known | None:
    """Return the known change of a row that a campaign begins, or None."""
    return next((one for one in known if one.campaign == campaign and fnmatchcase(row, one.row)), None)


# -- text --


def format_text(
    series: Sequence[HistorySeries], known: Sequence[Known], *, points: bool, ratios: bool
) -> Iterator[str]:
    """Yield a line for each row, then for its points if ``points`` is true, and for its changes."""
    lines = align([_list_cells(one, ratios) for one in series], left=(0, 3))
    for one, line in zip(series, lines, strict=True):
        yield line
        for point in one.points if points else ():
            told = (point.program, point.server and f"server {point.server}")
            versions = ", ".join(filter(None, told))
            otherwise = f"  measured differently: {', '.join(point.otherwise)}" if point.otherwise else ""
            value = _say_value(point, ratios)
            yield f"  {point.start:%Y-%m-%d %H:%M}  {value}  {versions}  {point.campaign}{otherwise}"
        yield from (f"  {_describe_change(one, change, known)}" for change in one.changes)
    changes = sum(len(one.changes) for one in series)
    yield f"{format_count(changes, 'change')} in {format_count(len(series), 'row')}"


def _list_cells(one: HistorySeries, ratios: bool) -> Sequence[str]:
    first, last = one.points[0], one.points[-1]
    other = sum(bool(point.otherwise) for point in one.points)
    apart = f", {other} of them measured differently" if other else ""
    when = f"from {first.start:%Y-%m-%d} to {last.start:%Y-%m-%d}{apart}"
    return one.name, _say_value(last, ratios), format_count(len(one.points), "campaign"), when


def _say_value(point: HistoryPoint, ratios: bool) -> str:
    if not ratios and point.unit != PER_SECOND:
        return say_amount(point.value, point.unit)
    unit = "" if ratios else point.unit
    write = (lambda value: f"{value:.3f}") if ratios else say_number
    if point.low is None or point.high in (None, inf):
        return f"{write(point.value)}{unit}"
    return f"{write(point.value)}{unit} ({write(point.low)} to {write(point.high)})"


def _describe_change(series: HistorySeries, change: LevelChange, known: Sequence[Known]) -> str:
    why = find_known(series.name, change.point.campaign, known)
    reason = (
        "unknown reason" if why is None else f"known: {why.reason}{f' ({why.ticket})' if why.ticket else ''}"
    )
    since = f"from {change.point.start:%Y-%m-%d %H:%M} on {say_change(change.ratio, change.point.unit)}"
    return f"{since}; {reason}; campaign {change.point.campaign}"


# -- documents --


def list_documents(series: Iterable[HistorySeries], known: Sequence[Known], measure: str) -> list[Document]:
    """Return a document for each row and campaign, with the change that begins with the campaign, or null.

    ``measure`` is ``speed`` or ``ratio``.
    """
    return [_describe_document(one, point, known, measure) for one in series for point in one.points]


def _describe_document(
    series: HistorySeries, point: HistoryPoint, known: Sequence[Known], measure: str
) -> Document:
    experiment, _, variant = series.name.partition(": ")
    change = next((one for one in series.changes if one.point.campaign == point.campaign), None)
    why = find_known(series.name, point.campaign, known)
    return {
        "_id": {"row": series.name, "campaign": point.campaign, "of": measure},
        "experiment": experiment,
        "variant": variant,
        "start": point.start,
        "value": point.value,
        "unit": point.unit,
        "low": point.low,
        "high": None if point.high == inf else point.high,
        "program": point.program,
        "server": point.server,
        "machine": point.machine,
        "otherwise": list(point.otherwise),
        "change": None
        if change is None
        else {
            "text": say_change(change.ratio, change.point.unit),
            "ratio": change.ratio.ratio,
            "low": change.ratio.low,
            "high": None if change.ratio.high == inf else change.ratio.high,
            "p": change.p,
            "reason": why.reason if why else None,
            "ticket": why.ticket if why else None,
        },
        "known": None
        if why is None
        else {"reason": why.reason, **({"ticket": why.ticket} if why.ticket else {})},
    }


def say_change(ratio: Interval, unit: str = PER_SECOND) -> str:
    """Return a change of level in words, such as ``12 % slower (8 to 15 %)``.

    The ends of an interval that includes 0 % have signs: ``12 % faster (-5 to +30 %)``. Measures other than speeds are
    higher or lower, and their intervals always have signs.
    """
    if unit != PER_SECOND:
        word = "higher" if ratio.ratio > 1 else "lower"
        low, high = (f"{100 * (end - 1):+.0f}" for end in (ratio.low, min(ratio.high, 1e9)))
        return f"{100 * abs(ratio.ratio - 1):.0f} % {word} ({low} to {high} %)"
    verdict: Verdict = "faster" if ratio.ratio > 1 else "slower"
    if 1 < ratio.low <= ratio.high < inf or 0 < ratio.low <= ratio.high < 1:
        return describe_interval(verdict, *ratio[:3])
    change = f"{100 * abs(ratio.ratio - 1):.0f} % {verdict}"
    low, high = (f"{100 * (end - 1):+.0f}" for end in (ratio.low, ratio.high))
    return f"{change} ({low} to {high} %)" if ratio.high < inf else change
