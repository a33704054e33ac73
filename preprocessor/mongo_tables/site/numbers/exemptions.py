"""Numbers that need no results: the settings ``[[numbers.exempt]]`` of ``mongo-tables.toml``.

[[numbers.exempt]]
file = "README*.md"
text = "a timeout of 500 ms"
reason = "a limit of the API"
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mongo_tables.files.text import place_at, shorten
from mongo_tables.findings.finding import Finding
from mongo_tables.findings.nearest import did_you_mean
from mongo_tables.findings.rules import finding
from mongo_tables.findings.usage import CommandError
from mongo_tables.site.disk import read_text
from mongo_tables.site.site_config import OWN_FILE, from_here, read_settings

if TYPE_CHECKING:
    from mongo_tables.site.numbers.classes import TextNumber

_KEYS: Final = ("file", "text", "reason")
_ENTRY: Final = re.compile(r"^[ \t]*\[\[[ \t]*numbers[ \t]*\.[ \t]*exempt[ \t]*\]\]", re.MULTILINE)
_EXAMPLE: Final = 'write file = "README*.md", text = "500 ms" and reason = "a limit of the API", for example'


@dataclass(frozen=True, slots=True)
class Exemption:
    """A text in files whose numbers need no results, with the reason; ``at`` is its place in the settings.

    ``file`` is a pattern, relative to the folder of the settings. "" is any file, or any text of it.
    """

    file: str
    text: str
    reason: str
    at: tuple[int, int]

    def names(self, file: str, folder: Path) -> bool:
        """Return whether the pattern matches a file: its path from ``folder``, or its name."""
        path = Path(file).absolute()
        within = path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.as_posix()
        return not self.file or any(fnmatchcase(one, self.file) for one in (within, path.name))

    def spans_in(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield where its text is in a file, whatever the spaces and line ends between its words."""
        words = r"\s+".join(map(re.escape, self.text.split()))
        return (one.span() for one in re.finditer(words, text)) if words else iter([(0, len(text))])


def read_exemptions(folder: Path) -> list[Exemption]:
    """Return the exemptions in ``mongo-tables.toml`` of a folder, or none without such a file.

    Raises CommandError with the place of each fault.
    """
    file = folder / OWN_FILE
    settings = read_settings(file).get("numbers", {}) if file.is_file() else {}
    text = read_text(file) if settings else ""
    entries = [one.start() for one in _ENTRY.finditer(text)]
    listed = settings.get("exempt", []) if isinstance(settings, Mapping) else None
    faults = []
    if not isinstance(listed, list) or set(settings) - {"exempt"}:
        faults.append(_fault(file, text, 0, "numbers", "`numbers` has anything but a list `exempt`"))
        listed = []
    found = []
    for number, entry in enumerate(listed):
        start = entries[number] if number < len(entries) else 0
        faults += (_fault(file, text, start, key, said) for key, said in _find_faults(entry))
        if not faults:
            pattern, own, reason = (entry.get(key, "") for key in _KEYS)
            found.append(Exemption(pattern, own, reason, place_at(text, start)))
    if faults:
        raise CommandError(faults[0].message, findings=faults, sources={from_here(file): text})
    return found


def _find_faults(entry: Any) -> Iterator[tuple[str, str]]:
    """Yield the key at fault, or "" for the entry, and what is wrong."""
    if not isinstance(entry, Mapping):
        yield "exempt", "an entry of `exempt` is not a table"
        return
    for key, value in entry.items():
        if key not in _KEYS:
            yield key, f"unknown key `{key}`"
        elif not isinstance(value, str) or not value.strip():
            yield key, f"`{key}` is not a text"
    if "reason" not in entry:
        yield "", "an exemption has no `reason`"
    if "file" not in entry and "text" not in entry:
        yield "", "an exemption has neither `file` nor `text`"


def _fault(file: Path, text: str, start: int, key: str, said: str) -> Finding:
    """Return a fault at a key of the entry that begins at ``start``."""
    end = next((one.start() for one in _ENTRY.finditer(text, start + 1)), len(text))
    own = (
        re.compile(rf"^[ \t\[]*(?P<key>{re.escape(key)})\b", re.MULTILINE).search(text, start, end)
        if key
        else None
    )
    hint = (did_you_mean(key, _KEYS) if "unknown" in said else "") or _EXAMPLE
    return finding("MT151", from_here(file), place_at(text, own.start("key") if own else start), said, hint)


def apply_exemptions(
    numbers: Sequence[TextNumber], texts: Mapping[str, str], exemptions: Sequence[Exemption], folder: Path
) -> tuple[list[TextNumber], list[Finding]]:
    """Return the numbers, open ones exempt with a reason, and a warning for each exemption of nothing.

    ``texts`` are those of all checked files. An exemption of files that are not checked is not judged, unless
    there is no such file.
    """
    reasons: dict[tuple[str, int], str] = {}
    unused = []
    for one in exemptions:
        files = [file for file in texts if one.names(file, folder)]
        spans = {file: list(one.spans_in(texts[file])) for file in files}
        within = {
            (each.file, each.candidate.offset): one.reason
            for each in numbers
            if each.candidate
            and any(start <= each.candidate.offset < end for start, end in spans.get(each.file, ()))
        }
        reasons = within | reasons
        if not within and (files or not _has_file(folder, one.file)):
            said = (
                f"no number in {one.file or 'any file'} is in `{shorten(one.text)}`"
                if files
                else f"there is no file {one.file}"
            )
            unused.append(
                finding("MT327", from_here(folder / OWN_FILE), one.at, said, "remove the exemption")
            )
    marked = [
        replace(one, kind="exempt", reason=reasons[one.file, one.candidate.offset])
        if one.kind == "open" and one.candidate and (one.file, one.candidate.offset) in reasons
        else one
        for one in numbers
    ]
    return marked, unused


def _has_file(folder: Path, pattern: str) -> bool:
    try:
        return not pattern or any(folder.glob(pattern)) or any(folder.rglob(pattern))
    except (ValueError, NotImplementedError):  # a pattern that no path has
        return False
