"""The report of ``check --numbers``: shares of the classes, open numbers, and the control."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any, Final, get_args

from mongo_tables.site.numbers.classes import Class

if TYPE_CHECKING:
    from mongo_tables.site.numbers.classes import Candidate, TextNumber
    from mongo_tables.site.numbers.text import Number

DRAWS: Final = 10


def report_lines(numbers: Sequence[TextNumber]) -> Iterator[str]:
    """Yield the open numbers, the counts of all classes, and the control."""
    for one in numbers:
        if one.kind == "open":
            yield f"{one.file}:{one.at[0]}:{one.at[1]}: open `{one.written}`"
    counts = count_classes(numbers).items()
    shares = (
        f"{count} {kind}" + (f" ({100 * count / len(numbers):.0f} %)" if count else "")
        for kind, count in counts
    )
    yield f"{len(numbers)} numbers: {', '.join(shares)}"
    yield f"control: {100 * control(numbers):.1f} % are found when each is replaced by another of as many digits"


def count_classes(numbers: Sequence[TextNumber]) -> dict[Class, int]:
    """Return how many numbers are in each class."""
    return {kind: sum(one.kind == kind for one in numbers) for kind in get_args(Class)}


def report_data(numbers: Sequence[TextNumber]) -> Mapping[str, Any]:
    """Return the report as JSON: counts and shares, the control, and each number with its place and class."""
    total = len(numbers) or 1
    return {
        "total": len(numbers),
        "classes": {
            kind: {"count": count, "share": round(count / total, 4)}
            for kind, count in count_classes(numbers).items()
        },
        "control": round(control(numbers), 4),
        "all": [
            {"file": one.file, "line": one.at[0], "column": one.at[1], "text": one.written, "class": one.kind}
            | ({"reason": one.reason} if one.reason else {})
            | ({"where": one.where} if one.where else {})
            for one in numbers
        ],
    }


def control(numbers: Sequence[TextNumber], draws: int = DRAWS) -> float:
    """Return the share of typed numbers that match by chance.

    Each number is replaced by another with the same number of digits; the result is the mean of ``draws``.
    Only numbers with a table at hand count, so that pages without one do not lower it. The draws are seeded.
    """
    tried = [one.candidate for one in numbers if one.candidate and one.candidate.tables]
    if not tried:
        return 0.0
    random = Random(0)
    return (
        sum(_with_other_digits(one, random).is_found for _ in range(draws) for one in tried)
        / draws
        / len(tried)
    )


def _with_other_digits(candidate: Candidate, random: Random) -> Candidate:
    """Return the candidate with another number of the same number of digits, also in its sentence."""
    number = candidate.number
    before = _to_int(number.written)
    written = number.written
    while before and written == number.written:
        written = _draw(number, random)
    value = number.value * _to_int(written) / before if before else number.value
    at = candidate.at + number.digits_at - number.start
    sentence = candidate.sentence[:at] + written + candidate.sentence[at + len(written) :]
    return replace(candidate, number=replace(number, written=written, value=value), sentence=sentence)


def _draw(number: Number, random: Random) -> str:
    """Return random digits. Leading zeros stay, and so do the rounded ones at the end of a whole number."""
    written = number.written
    digits = [at for at, one in enumerate(written) if one.isdigit()]
    first = next(at for at in digits if written[at] != "0")
    last = max(at for at in digits if written[at] != "0") if len(number.precisions) > 1 else digits[-1]
    drawn = list(written)
    for at in digits:
        if first <= at <= last:
            drawn[at] = random.choice("123456789" if at in (first, last) else "0123456789")
    return "".join(drawn)


def _to_int(written: str) -> int:
    return int("".join(filter(str.isdigit, written)))
