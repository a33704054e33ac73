"""Formats that say two things of which one can hold, and patterns, zones and addresses that mean nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from mongo_tables.directives.addresses import template_fault
from mongo_tables.directives.conventions import convention_of
from mongo_tables.findings.finding import Finding
from mongo_tables.findings.nearest import did_you_mean
from mongo_tables.jsontext.document import Document
from mongo_tables.jsontext.model import Path

_CONTRADICTION: Final = "MT145"
_IMPOSSIBLE: Final = "MT133"
_OF_NUMBERS: Final = (
    *("decimals", "significant", "unit", "thousands"),
    *("percent", "currency", "duration", "bytes", "bar", "scale"),
)
_EXCLUDING: Final[Sequence[tuple[Sequence[str], Sequence[str], str]]] = (
    (("percent",), ("currency", "duration", "bytes"), "a value is one of them"),
    (("currency",), ("duration", "bytes"), "a value is one of them"),
    (("duration",), ("bytes",), "a value is one of them"),
    (("unit",), ("percent", "currency", "duration", "bytes"), "the other one names the unit of each cell already"),
    (("decimals",), ("significant",), "round in one way"),
    (("date",), (*_OF_NUMBERS, "currency_place"), "dates have none: leave one of them out"),
    (("markdown",), (*_OF_NUMBERS, "date"), "Markdown is read in texts alone: leave one of them out"),
    (("markdown",), ("link",), "write the link into the text, or leave the Markdown out"),
    (("bar",), ("scale",), "one of the two shows the size of a number"),
)  # fmt: skip
_NEEDED: Final = {"timezone": "date", "currency_place": "currency"}


def format_findings(document: Document) -> Iterator[Finding]:
    """Complain of what a schema cannot say of the formats in a comment, as far as shapes allow."""
    for path, form in _formats(document.parsed.value):
        yield from _contradictions(document, path, form)
        yield from _separator_findings(document, path, form)
        yield from _pattern_findings(document, path, form)
        yield from _link_findings(document, path, form)


def _formats(body: Mapping[str, Any]) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Each format with its path; a value has one, all others have one for a column."""
    written = body.get("format")
    if not isinstance(written, dict):
        return
    if "column" in body:
        yield ("format",), written
        return
    for column, form in written.items():
        if isinstance(form, dict):
            yield ("format", column), form


def _contradictions(document: Document, path: Path, form: Mapping[str, Any]) -> Iterator[Finding]:
    said = [key for key, value in form.items() if value is not None and value is not False]
    for ones, others, hint in _EXCLUDING:
        if (one := _first(ones, said)) and (other := _first(others, said)):
            message = f"{_named(path)} has both `{one}` and `{other}`"
            yield document.finding(_CONTRADICTION, (*path, other), message, hint, key=True)
    for key, needed in _NEEDED.items():
        if key in said and needed not in said:
            message = f"{_named(path)} has `{key}`, which means nothing without `{needed}`"
            yield document.finding(
                _CONTRADICTION, (*path, key), message, f"add `{needed}`, or take it out", key=True
            )


def _first(keys: Iterable[str], said: Sequence[str]) -> str:
    return next((key for key in keys if key in said), "")


def _named(path: Path) -> str:
    return f"the format of `{path[1]}`" if len(path) > 1 else "the format"


def _separator_findings(document: Document, path: Path, form: Mapping[str, Any]) -> Iterator[Finding]:
    """A sign that groups digits and begins a fraction as well."""
    separator, locale = form.get("thousands"), form.get("locale", document.parsed.value.get("locale"))
    if not isinstance(separator, str) or not (locale is None or isinstance(locale, str)):
        return
    if not locale and not form.get("decimals"):
        return
    try:
        decimal = convention_of(locale).decimal
    except KeyError:
        return  # The schema names those that there are.
    if separator == decimal:
        message = (
            f"`{separator}` groups digits and begins the fraction as well: 1{separator}234 may be either"
        )
        hint = '"thousands": true takes what the `locale` groups digits by'
        yield document.finding(_CONTRADICTION, (*path, "thousands"), message, hint)


def _pattern_findings(document: Document, path: Path, form: Mapping[str, Any]) -> Iterator[Finding]:
    pattern = form.get("date")
    if not isinstance(pattern, str) or not pattern:
        return
    from mongo_tables.aggregation.dateformats import check_format  # and with it `zoneinfo`, which costs
    from mongo_tables.aggregation.errors import AggregationError

    try:
        check_format(pattern)
    except AggregationError as error:
        message = f"`{pattern}` is not possible as a pattern for dates: {error.message}"
        hint = "specifiers are %Y %m %d %H %M %S %L %b %B %j %u %V %G %U %w %z %Z, and %% for a percent sign"
        yield document.finding(_IMPOSSIBLE, (*path, "date"), message, hint)
        return
    if "%" not in pattern.replace("%%", ""):
        message = f"`{pattern}` is the same for every date: it has no specifier"
        yield document.finding(_IMPOSSIBLE, (*path, "date"), message, 'for example: "%d %b %Y"')


def _link_findings(document: Document, path: Path, form: Mapping[str, Any]) -> Iterator[Finding]:
    template = form.get("link")
    if not isinstance(template, str) or not template:
        return
    if fault := template_fault(template):
        hint = _written_as_path(template) or "for example `{url}`, or `https://example.com/commit/{commit}`"
        yield document.finding(_IMPOSSIBLE, (*path, "link"), f"the link `{template}` {fault}", hint)


def _written_as_path(template: str) -> str:
    """A hint for who writes a field as pipelines do."""
    return f"did you mean `{{{template[1:]}}}`?" if template.startswith("$") and "{" not in template else ""


def zone_findings(document: Document) -> Iterator[Finding]:
    """Complain of a time zone that does not exist."""
    formats = ((*path, "timezone") for path, _ in _formats(document.parsed.value))
    for path in (("timezone",), ("chart", "timezone"), *formats):
        named = _at(document.parsed.value, path)
        if not isinstance(named, str) or not named:
            continue
        from mongo_tables.aggregation.dates import is_zone, zone_names  # and with it `zoneinfo`, which costs

        if not is_zone(named):
            hint = did_you_mean(named, zone_names()) or (
                "a zone is named by its place, such as Europe/Berlin, or by its distance from UTC: +05:30"
            )
            yield document.finding(_IMPOSSIBLE, path, f"there is no time zone `{named}`", hint)


def _at(value: Any, path: Path) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value
