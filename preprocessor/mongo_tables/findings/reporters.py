"""Reports of findings as text, JSON, GitHub annotations or SARIF, and baselines of accepted findings.

Every report is sorted, has no duplicates, and depends only on the findings.

A baseline lists the accepted findings of a site, so that a check fails only for new findings. It identifies a finding
by file, rule and message. The line does not count, because text inserted above an old fault must not make the fault
new. If a file has more equal findings than the baseline accepts, the surplus is new.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, get_args
from urllib.parse import quote

from mongo_tables import __version__
from mongo_tables.findings.finding import Finding, Place, Severity
from mongo_tables.findings.rules import RULES, Rule

VERSION = 1

FindingKey = tuple[str, str, str]
"""The identity of a finding in a baseline: its file relative to the baseline, its rule, and its message without line
numbers.
"""

_PLACE = re.compile(r"\blines? \d+(?:(?:, | and )\d+)*")


def format_baseline(findings: Iterable[Finding], folder: Path) -> str:
    """Return the text of a baseline that accepts ``findings``. ``folder`` is the folder of the baseline."""
    counted = Counter(_mark(one, folder) for one in set(findings))
    accepted = [
        {"file": file, "rule": rule, "message": message, "count": count}
        for (file, rule, message), count in sorted(counted.items())
    ]
    return json.dumps({"version": VERSION, "findings": accepted}, indent=2) + "\n"


def compare_with_baseline(findings: Iterable[Finding], text: str, folder: Path) -> tuple[list[Finding], int]:
    """Return the findings that a baseline does not accept, and the number of accepted findings that no longer occur.

    ``text`` is the text of the baseline, ``folder`` its folder. If a page has more equal findings than the baseline
    accepts, the last of them are new.

    Raises:
        ValueError: If the text is not a baseline.
    """
    left = _read_accepted(text)
    new = []
    for one in sorted(set(findings)):
        mark = _mark(one, folder)
        if left[mark] > 0:
            left[mark] -= 1
        else:
            new.append(one)
    return new, left.total()


def _mark(one: Finding, folder: Path) -> FindingKey:
    file = Path(os.path.relpath(one.file, folder)).as_posix()
    return file, one.rule, _PLACE.sub("line …", one.message)


def _read_accepted(text: str) -> Counter[FindingKey]:
    try:
        content = json.loads(text)
        version = content["version"]
        accepted = content["findings"] if version == VERSION else ()
        found = Counter({(one["file"], one["rule"], one["message"]): int(one["count"]) for one in accepted})
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(f"it is not a list of accepted findings ({type(error).__name__})") from None
    if version != VERSION:
        raise ValueError(f"it has version {version!r}, this program reads version {VERSION}")
    return found


ReportFormat = Literal["text", "json", "github", "sarif"]
REPORT_FORMATS: tuple[ReportFormat, ...] = get_args(ReportFormat)

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
"""From the most severe to the least."""


def report(
    findings: Iterable[Finding],
    form: ReportFormat,
    *,
    color: bool = False,
    sources: Mapping[str, str] | None = None,
) -> str:
    """Return all findings in one of ``REPORT_FORMATS``, ending in a newline.

    Without findings, the formats ``json`` and ``sarif`` are complete documents, and the other formats are "".

    Args:
        findings: The findings, in any order.
        form: The format.
        color: Whether the format ``text`` has colours.
        sources: The texts of files by name, for the excerpts in the format ``text``.

    Raises:
        KeyError: If the format is unknown.
    """
    ordered = sorted(set(findings))
    if form == "text":
        if not ordered:
            return ""
        lines = [line for one in ordered for line in _text_lines(one, color, sources or {})]
        files = format_count(len({one.file for one in ordered}), "file")
        return "\n".join([*lines, f"{amounts(ordered)} in {files}\n"])
    if form == "github":
        return "".join(_annotation(one) + "\n" for one in ordered)
    forms: dict[str, Callable[[list[Finding]], dict[str, Any]]] = {"json": _json, "sarif": _sarif}
    # ``json`` escapes all but ASCII: a terminal executes nothing in it, and no encoding corrupts it.
    return json.dumps(forms[form](ordered), indent=2) + "\n"


def failing(findings: Sequence[Finding], fail_on: Severity) -> list[Finding]:
    """Return the findings that are at least as severe as ``fail_on``."""
    grave = SEVERITIES[: SEVERITIES.index(fail_on) + 1]
    return [finding for finding in findings if finding.severity in grave]


def amounts(findings: Iterable[Finding]) -> str:
    """Return the number of findings in words: "3 errors, 1 warning", or "" for no findings."""
    return ", ".join(
        format_count(number, severity) for severity, number in _counts(findings).items() if number
    )


def _counts(findings: Iterable[Finding]) -> dict[str, int]:
    severities = [finding.severity for finding in findings]
    return {severity: severities.count(severity) for severity in SEVERITIES}


def format_count(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural unless the number is 1.

    Example:
        >>> format_count(1, "page"), format_count(1300, "page")
        ('1 page', '1,300 pages')
    """
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


# Control characters, which a terminal executes; marks that change the direction of writing; half surrogates.
_HARMFUL = "[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]"


def escape_control_chars(text: str) -> str:
    """Return ``text`` with an escape such as ``\\x1b`` for each character that a terminal may execute."""
    return re.sub(_HARMFUL, lambda match: ascii(match.group())[1:-1], text)


def hint_line(hint: str) -> str:
    """Return a hint as a line of a report."""
    return f"  hint: {escape_control_chars(hint)}"


# -- text --

_COLORS = {"error": "\x1b[31m", "warning": "\x1b[33m", "note": "\x1b[36m"}
_BOLD, _DIM, _PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[0m"


def _text_lines(finding: Finding, color: bool, sources: Mapping[str, str]) -> list[str]:
    place = escape_control_chars(finding.file) + (f":{finding.line}:{finding.column}" if finding.line else "")
    severity: str = finding.severity
    if color:
        place = f"{_BOLD}{place}{_PLAIN}"
        severity = f"{_COLORS[severity]}{severity}{_PLAIN}"
    lines = [f"{place}: {severity} {finding.rule} {escape_control_chars(finding.message)}"]
    lines += _excerpt(finding, sources.get(finding.file))
    lines += (f"  in {_say_place(place)}" for place in finding.related)
    if finding.hint:
        hint = hint_line(finding.hint)
        lines.append(f"{_DIM}{hint}{_PLAIN}" if color else hint)
    return lines


def _say_place(place: Place) -> str:
    return f"{escape_control_chars(place.file)}:{place.line}:{place.column}"


_EXCERPT = 100


def _excerpt(finding: Finding, source: str | None) -> list[str]:
    """Return the source line of a finding, shortened to the part around its column, and a line with a caret."""
    lines = _lines(source or "")
    if source is None or not 1 <= finding.line <= len(lines):
        return []
    start = max(0, finding.column - 1 - _EXCERPT // 2)
    shown = lines[finding.line - 1][start : start + _EXCERPT]
    before = escape_control_chars(shown[: finding.column - 1 - start].expandtabs(4))
    after = escape_control_chars(shown[finding.column - 1 - start :].expandtabs(4))
    return [f"    {before}{after}".rstrip(), "    " + " " * len(before) + "^"]


@lru_cache(maxsize=1)
def _lines(source: str) -> list[str]:
    """Return the lines of a page. The cache holds only the last page, because findings are sorted by page."""
    return re.split(r"\r\n|\r|\n", source.removeprefix("\ufeff"))


# -- JSON --


def _json(findings: list[Finding]) -> dict[str, Any]:
    listed: list[dict[str, Any]] = []
    for one in findings:
        written: dict[str, Any] = {
            "file": one.file,
            "line": one.line,
            "column": one.column,
            "rule": one.rule,
            "name": RULES[one.rule].name,
            "severity": one.severity,
            "message": one.message,
            "hint": one.hint,
        }
        if one.related:
            written["related"] = [place._asdict() for place in one.related]
        listed.append(written)
    files = {one.file for one in findings}
    return {"findings": listed, "summary": {**_counts(findings), "files": len(files)}}


# -- GitHub annotations --


def _annotation(finding: Finding) -> str:
    """Return one workflow command.

    https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands
    """
    command = "notice" if finding.severity == "note" else finding.severity
    properties = {"file": finding.file}
    if finding.line:
        properties |= {"line": str(finding.line), "col": str(finding.column)}
    properties["title"] = f"{finding.rule} {RULES[finding.rule].name}"
    escaped = {key: _data(value).replace(":", "%3A").replace(",", "%2C") for key, value in properties.items()}
    given = ",".join(f"{key}={value}" for key, value in escaped.items())
    said = [finding.message, *(f"in {_say_place(place)}" for place in finding.related)]
    said += [f"hint: {finding.hint}"] if finding.hint else []
    return f"::{command} {given}::" + "%0A".join(_data(line) for line in said)


def _data(text: str) -> str:
    return escape_control_chars(text).replace("%", "%25")


# -- SARIF --


def _sarif(findings: list[Finding]) -> dict[str, Any]:
    """Return a SARIF 2.1.0 log: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html."""
    rules = sorted(RULES)
    driver = {
        "name": "mongo-tables",
        "semanticVersion": __version__,
        "rules": [_sarif_rule(RULES[rule]) for rule in rules],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, rules.index(finding.rule)) for finding in findings],
    }
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    return {"$schema": schema, "version": "2.1.0", "runs": [run]}


def _sarif_rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "name": rule.name,
        "shortDescription": {"text": rule.summary},
        "defaultConfiguration": {"level": rule.severity},
    }


def _result(finding: Finding, index: int) -> dict[str, Any]:
    said = "; ".join(filter(None, (finding.message, finding.hint)))
    return {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": finding.severity,
        "message": {"text": said},
        "locations": [_location(finding)],
    } | ({"relatedLocations": [_location(place) for place in finding.related]} if finding.related else {})


def _location(at: Finding | Place) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": quote(at.file, errors="replace")}}
    if at.line:
        place["region"] = {"startLine": at.line, "startColumn": at.column}
    return {"physicalLocation": place}
