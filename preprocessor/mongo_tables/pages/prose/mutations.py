"""Changes of single words after which a sentence says something else, as mutation testing has them for programs.

A figure becomes three times or a third of it, a day that of ten years before, a number word another one, a direction
its contrary. Of a sentence that follows from rows, whoever checks the page notices each of them. A place is a figure
that is no version, year or part of a name; a day such as `2026-01-31`; a word such as `half`, `two thirds`, `twice`,
`none of them`; one such as `faster`, `more`, `at least`; or a contrast such as `what it reads, not what it returns`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from mongo_tables.pages.prose.numbers import GROUPING, NUMBER, blank_names, figures, fold_case, read_number
from mongo_tables.pages.prose.paragraphs import BLANK, Paragraph, paragraphs, split_sentences

_CONTRARY_PAIRS: Final = (
    "faster slower", "fastest slowest", "more fewer", "most least", "higher lower", "highest lowest", "longer shorter",
    "longest shortest", "larger smaller", "largest smallest", "better worse", "best worst", "above below",
    "cheaper dearer", "increases decreases", "increase decrease", "rises falls", "rise fall", "rose fell",
    "grows shrinks", "grow shrink", "grew shrank", "gains loses", "gained lost", "quicker slower", "bigger smaller",
    "greater smaller", "less more",
)  # fmt: skip
_NUMBERS: Final = (
    "two five", "three seven", "four nine", "five two", "six two", "seven two", "eight three", "nine three",
    "ten four", "eleven four", "twelve five", "twenty fifty", "dozen hundred", "hundred dozen", "twice thrice",
    "thrice twice", "doubles triples", "doubled tripled", "double triple", "half twice", "halves doubles",
    "halved doubled", "none all", "nothing everything", "third tenth", "thirds tenths", "quarter tenth",
    "quarters tenths", "fifth half", "fifths halves", "sixth half", "sixths halves", "seventh half", "sevenths halves",
    "eighth half", "eighths halves", "ninth half", "ninths halves", "tenth half", "tenths halves",
)  # fmt: skip
_FRACTION: Final = re.compile(r"(?:third|quarter|fifth|sixth|seventh|eighth|ninth|tenth)s?")
_COUNTED: Final = re.compile(
    rf"\b(?:an?|one|two|three|four|five|six|seven|eight|nine)[\s{BLANK}]+$", re.IGNORECASE
)
"""What stands before a fraction; without it `third` is a place in an order."""


def _list_contraries() -> Iterator[tuple[str, str]]:
    for pair in _CONTRARY_PAIRS:
        one, other = pair.split()
        yield one, other
        yield other, one


_DIRECTIONS: Final = dict(reversed([*_list_contraries()]))
"""The first pair of a word counts."""
_NUMBER_WORDS: Final = dict(pair.split() for pair in _NUMBERS)
_WORD: Final = re.compile(rf"\b(?:{'|'.join({**_DIRECTIONS, **_NUMBER_WORDS})})\b", re.IGNORECASE)
_DIGITS: Final = re.compile(rf"(?<![\w.,/#§:])(?<!\w[-–])(?:{NUMBER})")
_BEHIND_DIGITS: Final = re.compile(r"(?:st|nd|rd|th)\b|[A-Za-z]*\d|-\w|[.,]\d")
"""What makes digits part of a name: 2nd, 4xlarge2, 3-node."""
_BEFORE_FIGURE: Final = re.compile(rf"\s*[\d{BLANK}]")
"""What follows `above` and `below` where they are no places: a figure, typed or written by a comment."""
_DAY: Final = re.compile(r"(?<![\w.,/#§:-])(?:19|20)\d\d-[01]\d-[0-3]\d(?![\w-])")
_CONTRAST: Final = re.compile(
    r"\b(?P<lead>(?:\w+ ){1,3})(?P<one>\w+)(?P<between>,? (?:and |but )?not (?P=lead))(?P<other>\w+)"
)
_YEARS: Final = range(1900, 2122)
_LEAST_WITHOUT_UNIT: Final = 1000
"""Smaller numbers without a unit are no figures to a check; one that becomes so large would be noticed for that."""


class Mutation(NamedTuple):
    """What is ``written`` at ``start`` in a page would be ``instead``; ``sentence`` is the one that it stands in."""

    start: int
    written: str
    instead: str
    sentence: str

    def apply(self, page: str) -> str:
        """The text of the page, changed."""
        return page[: self.start] + self.instead + page[self.start + len(self.written) :]


def find_mutations(
    page: str, generated: Sequence[tuple[int, int]] = (), captions: Sequence[tuple[int, int]] = ()
) -> Iterator[Mutation]:
    """Every place of the page's sentences that is changed, in order; spans are those that ``paragraphs`` takes."""
    for paragraph in paragraphs(page, generated, captions):
        text = paragraph.text
        found = sorted(
            [*_change_words(text), *_change_figures(text), *_change_days(text), *_swap_contrasts(text)]
        )
        for start, written, instead in found:
            sentence = _sentence_at(paragraph, start)
            yield Mutation(paragraph.start + start, written, instead, sentence)


def _change_words(text: str) -> Iterator[tuple[int, str, str]]:
    for found in _WORD.finditer(text):
        word = fold_case(found[0])
        if word in ("above", "below") and not _BEFORE_FIGURE.match(text, found.end()):
            continue
        if _FRACTION.fullmatch(word) and not _COUNTED.search(text, max(0, found.start() - 20), found.start()):
            continue
        instead = _DIRECTIONS.get(word) or _NUMBER_WORDS[word]
        yield found.start(), found[0], instead.capitalize() if found[0][0].isupper() else instead


def _change_figures(text: str) -> Iterator[tuple[int, str, str]]:
    shown = blank_names(text)
    with_unit = {one.start for one in figures(text) if one.unit is not None}
    for found in _DIGITS.finditer(shown):
        is_year = found[0].isdigit() and int(found[0]) in _YEARS and found.start() not in with_unit
        if not _BEHIND_DIGITS.match(shown, found.end()) and not is_year:
            yield found.start(), found[0], _change_figure(found[0], shown[found.end() : found.end() + 2])


def _change_days(text: str) -> Iterator[tuple[int, str, str]]:
    for found in _DAY.finditer(text):
        yield found.start(), found[0], f"{int(found[0][:4]) - 10}{found[0][4:]}"


def _swap_contrasts(text: str) -> Iterator[tuple[int, str, str]]:
    """What is said against what, in the same words: `what it reads, not what it returns` the other way round."""
    for found in _CONTRAST.finditer(text):
        one, between, other = found["one"], found["between"], found["other"]
        yield found.start("one"), f"{one}{between}{other}", f"{other}{between}{one}"


def _change_figure(written: str, behind: str) -> str:
    """Three times the figure, with as many decimals.

    A third of it where three times would be noticed for another reason: a share of more than all, or a number without a
    unit that only then is large enough to be a figure.
    """
    number = read_number(written)
    grouping = GROUPING.search(written)
    other = number * 3 if number else 7.0
    is_share = behind.lstrip().startswith("%")
    if (is_share and other > 100) or number < _LEAST_WITHOUT_UNIT <= other:
        other = number / 3
    text = f"{other:{',' if grouping else ''}.{len(written.partition('.')[2])}f}"
    return text.replace(",", grouping[0]) if grouping else text


def _sentence_at(paragraph: Paragraph, place: int) -> str:
    """The sentence around a place of the paragraph, on one line, without what is no prose."""
    start, end = next(span for span in split_sentences(paragraph.text) if place < span[1])
    return " ".join(paragraph.text[start:end].replace(BLANK, " ").split())
