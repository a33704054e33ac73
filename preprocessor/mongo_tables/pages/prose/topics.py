"""Whether words speak of what was measured, or of what is set: `takes 81 ms`, but `polls every 500 ms`.

A page with a table of times has seconds of other things as well, in sections that are about these.
"""

from __future__ import annotations

import re
from typing import Final

_ROUGHLY: Final = (
    r"(?:(?:only|just|about|around|roughly|under|over|less\sthan|more\sthan|up\sto|at\s(?:most|least))\s"
    r"|[~≈<>≤≥]\s?)?"
)
_MEASURED: Final = re.compile(
    r"\b(?:benchmark\w*|measur\w+|results?|performance|speeds?|throughput|latenc(?:y|ies)|overhead|footprint|timings?"
    r"|fast(?:er|est)?|slow(?:er|est|s|ed)?|quick(?:er|est)?|sav(?:e|es|ed|ing)|elapsed"
    r"|median|mean|averages?|percentiles?|p\d\d+)\b"
    rf"|\b(?:takes?|took|taken|needs?|needed|costs?|uses?|used|in)\s{_ROUGHLY}\d"
    r"|/\s?s(?:ec)?\b|\bper\ssecond\b",
    re.IGNORECASE,
)
_SET: Final = re.compile(
    r"\b(?:defaults?|limit\w*|time[-\s]?outs?|intervals?|delays?|debounc\w*|throttl\w*|retr(?:y|ies)|waits?|polls?|polling"
    r"|refresh\w*|cach(?:es|ed|ing)\sfor|expir\w*|every|compatib\w*|coverage|configur\w+|settings?)\b",
    re.IGNORECASE,
)
_HEADING: Final = re.compile(
    r"\b(?:benchmark\w*|performance|results?|speeds?|throughput|latency|measurements?|timings?|comparisons?|compared"
    r"|findings|conclusions?|takeaways|summary|how\sfast|vs|versus)\b",
    re.IGNORECASE,
)
_PAST: Final = re.compile(
    r"\W*(?:the\s)?(?:change[\s-]?logs?|changes|(?:release|version|project)\s(?:notes|history)|releases|history|news"
    r"|what['’]s\snew|older\sversions|previous\sversions)\b(?!.*\b(?:benchmark|performance|result|speed)\w*)",
    re.IGNORECASE,
)
_COMMON_HEADERS: Final = frozenset(
    {"time", "size", "memory", "value", "count", "total", "name", "rate", "duration"}
)


def is_common_header(header: str) -> bool:
    """Whether the words of a header name no column of a table elsewhere: `the time between two keys`."""
    return header.lower() in _COMMON_HEADERS


def tells_of_results(text: str) -> bool:
    """Whether a text tells of what was measured."""
    return bool(_MEASURED.search(text))


def tells_of_settings(text: str) -> bool:
    """Whether a text tells of what somebody sets."""
    return bool(_SET.search(text))


def is_about_the_past(heading: str) -> bool:
    """Whether a section with that heading lists what was, version by version."""
    return bool(_PAST.match(heading))


def is_about_results(heading: str) -> bool:
    """Whether a section with that heading is about what was measured."""
    return bool(_HEADING.search(heading))
