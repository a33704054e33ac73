"""The sentences of a value (the key ``say``), one for each verdict, and their placeholders.

A placeholder names a figure of the comparison, optionally with a form (``{ratio:factor}``), or a field of the row
(``{speed.median}``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

from mongo_tables.findings.finding import Complaint, did_you_mean
from mongo_tables.jsontext import Path

FORMS: Final = ("factor", "percent")
FIGURES: Final[Mapping[str, tuple[str, ...]]] = {
    "slower": ("ratio", "interval"),
    "faster": ("ratio", "interval"),
    "no difference": ("most",),
    "not known": ("bounds", "slower", "faster"),
}
"""For each verdict, the figures of the comparison that the sentence for this verdict may name."""

_EVERY: Final = frozenset[str]().union(*FIGURES.values())
_PLACEHOLDER: Final = re.compile(r"\{([^{}]*)\}")


class Placeholder(NamedTuple):
    """A figure of the comparison or a field of the row.

    ``form`` is the notation of a figure; without it, the size of the figure decides.
    """

    name: str
    form: str = ""

    @property
    def is_figure(self) -> bool:
        """Whether the placeholder names a figure of the comparison."""
        return self.name in _EVERY


def placeholders_in(sentence: str) -> list[Placeholder]:
    """Return the placeholders of a sentence, in order.

    Example:
        >>> placeholders_in("{ratio:factor} slower, at {speed}")
        [Placeholder(name='ratio', form='factor'), Placeholder(name='speed', form='')]
    """
    return [_read(found[1]) for found in _PLACEHOLDER.finditer(sentence)]


def _read(written: str) -> Placeholder:
    name, _, form = written.partition(":")
    return Placeholder(name, form)


def fill(sentence: str, text_of: Callable[[Placeholder], str]) -> str:
    """Return the sentence with a text in place of each placeholder."""
    return _PLACEHOLDER.sub(lambda found: text_of(_read(found[1])), sentence)


def fields_in(say: Mapping[str, str]) -> list[str]:
    """Return the fields of the row that the sentences name, each once."""
    named = (one.name for sentence in say.values() for one in placeholders_in(sentence) if not one.is_figure)
    return list(dict.fromkeys(named))


def find_faults(say: Mapping[str, object], at: Path) -> Iterator[Complaint[Path]]:
    """Yield the faults of sentences. ``at`` is the path of ``say`` in its comment."""
    for verdict, sentence in say.items():
        if not isinstance(sentence, str) or verdict not in FIGURES:
            continue  # the schema reports it
        if "{" in (rest := _PLACEHOLDER.sub("", sentence)) or "}" in rest:
            message = "the sentence has a brace that does not belong to a placeholder"
            yield Complaint(
                message, "a placeholder is a name in braces, such as {ratio}", (*at, verdict), "MT133"
            )
        for one in placeholders_in(sentence):
            if fault := _find_fault(one, verdict):
                yield Complaint(*fault, (*at, verdict), "MT133")


def _find_fault(one: Placeholder, verdict: str) -> tuple[str, str] | None:
    written = f"`{{{one.name}{':' if one.form else ''}{one.form}}}`"
    known = ", ".join(f"`{name}`" for name in FIGURES[verdict])
    hint = f"figures of `{verdict}` are {known}; other names are fields of the row"
    if not one.name:
        return f"{written} names nothing", hint
    if one.is_figure and one.name not in FIGURES[verdict]:
        return f"{written} is no figure of the verdict `{verdict}`", hint
    if one.form and (not one.is_figure or one.name == "bounds"):
        near = "" if one.is_figure else did_you_mean(one.name, _EVERY)
        return f"{written} has a form, but only numeric figures may have one", near or "leave the form out"
    if one.form and one.form not in FORMS:
        forms = " and ".join(f"`{form}`" for form in FORMS)
        return f"there is no form `{one.form}`", did_you_mean(one.form, FORMS) or f"forms are {forms}"
    return None
