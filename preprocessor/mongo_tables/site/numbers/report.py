"""The report of ``check --numbers``: how many numbers are of each class, which are open, and how many chance finds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Final, get_args

from mongo_tables.site.numbers.classes import Class

if TYPE_CHECKING:
    from mongo_tables.site.numbers.classes import Candidate, TextNumber
    from mongo_tables.site.numbers.tokens import Number

DRAWS: Final = 10


def report_lines(numbers: Sequence[TextNumber]) -> Iterator[str]:
    """The open numbers, the counts of all classes, and the control."""
    for one in numbers:
        if one.kind == "open":
            yield f"{one.file}:{one.at[0]}:{one.at[1]}: open `{one.written}`"
    counts = ((sum(one.kind == kind for one in numbers), kind) for kind in get_args(Class))
    yield f"{len(numbers)} numbers: " + ", ".join(f"{count} {kind}" for count, kind in counts)
    yield f"control: {100 * control(numbers):.1f} % are found when each is replaced by another of as many digits"


def control(numbers: Sequence[TextNumber], draws: int = DRAWS) -> float:
    """The share of typed numbers that chance finds: each is replaced by another of as many digits, mean of ``draws``.

    Only numbers that have a table at hand count, so that pages without one do not lower it. The draws are seeded.
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
    """The candidate with another number of as many digits, in its sentence, too."""
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
    """Other digits; zeros stay at the front, and at the end of a whole number, which is read as rounded."""
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
