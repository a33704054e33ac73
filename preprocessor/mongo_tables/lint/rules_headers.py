"""Rules about headers: names of code, stray blanks, counters that do not measure what the header says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from mongo_tables.directives.specs import TableSpec
from mongo_tables.findings.finding import Finding
from mongo_tables.lint.rulecontext import RuleContext
from mongo_tables.lint.rules_page import find_definition


def find_header_blanks(subject: RuleContext) -> Iterator[Finding]:
    """MT503: blanks at the ends of a header, or two in a row, are slips of the keyboard."""
    for index, header in enumerate(_list_headers(subject)):
        if header != " ".join(header.split()):
            message = f'the header "{header}" has blanks too many'
            hint = f'write "{" ".join(header.split())}"'
            yield subject.finding("MT503", subject.spec.locate(("headers", index)), message, hint)


_CODE_NAME = r"[a-z]+[A-Z]\w*|\w+_\w+"


def find_field_names_as_headers(subject: RuleContext) -> Iterator[Finding]:
    """MT504: a header that is the name of a field speaks to programs, not to readers."""
    for index, (column, header) in enumerate(zip(subject.columns, _list_headers(subject), strict=False)):
        if header == column and re.fullmatch(_CODE_NAME, header):
            words = re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", header).lower().capitalize()
            yield subject.finding(
                "MT504",
                subject.spec.locate(("headers", index)),
                f"the header is the name of the field, `{header}`: readers see a name out of a program",
                f'write it in words: "{words}"',
            )


def _list_headers(subject: RuleContext) -> tuple[str, ...]:
    return subject.spec.headers if isinstance(subject.spec, TableSpec) else ()


class _Pitfall(NamedTuple):
    """A measure that is easily taken for another: where it ends up, what readers then believe, what to do."""

    source: str
    header: re.Pattern[str]
    message: str
    hint: str


_PITFALLS = (
    # WiredTiger leaves records under 128 bytes uncompressed and counts them elsewhere:
    # https://source.wiredtiger.com/develop/group__wt.html (log=(compressor)).
    _Pitfall(
        "wiredTiger.log.total size of compressed records",
        re.compile(""),
        "leaves out journal records that are too small to be compressed: with small writes it says next to nothing",
        "`wiredTiger.log.log bytes written` counts all of them",
    ),
    _Pitfall(
        "wiredTiger.block-manager.bytes written",
        re.compile(r"cache", re.IGNORECASE),
        "counts all that the storage engine writes to its files, checkpoints and oplog among it, not what leaves "
        "the cache alone",
        "say so in the header, for example “Written to data files”",
    ),
)


def find_misleading_measures(subject: RuleContext) -> Iterator[Finding]:
    """MT413: a counter stands under a header for something that it does not measure."""
    for index, (column, header) in enumerate(zip(subject.columns, subject.headers, strict=False)):
        sources = subject.column(column).traits.sources
        for pitfall in _PITFALLS:
            if any(one.endswith(pitfall.source) for one in sources) and pitfall.header.search(header):
                path = find_definition(subject.spec, column)
                at = subject.at(path, key=True) if path else subject.spec.locate(("columns", index))
                message = f"“{header.strip()}” is computed from `{pitfall.source}`, which {pitfall.message}"
                yield subject.finding("MT413", at, message, pitfall.hint)
        yield from _cpu_in_part(subject, index, header, sources)


_CPU = r"(?i)\bCPU\b(?!.*(user|kernel|system))"
_CPU_SERIES = re.compile(r"NORMALIZED_CPU_(\w+)\]")


def _cpu_in_part(subject: RuleContext, index: int, header: str, sources: frozenset[str]) -> Iterator[Finding]:
    shares = sorted({found[1] for source in sources if (found := _CPU_SERIES.search(source))})
    if not shares or not re.search(_CPU, header) or set(shares) - {"USER", "KERNEL"}:
        return
    left_out = [one for one in ("USER", "KERNEL", "IRQ", "SOFTIRQ", "STEAL", "NICE") if one not in shares]
    yield subject.finding(
        "MT413",
        subject.spec.locate(("headers", index)),
        f"“{header.strip()}” adds up {' and '.join(shares)} alone; {', '.join(left_out)} and IOWAIT are left out",
        "say so in the header, for example “CPU, user and kernel (%)”",
    )


RULES = (find_header_blanks, find_field_names_as_headers, find_misleading_measures)
