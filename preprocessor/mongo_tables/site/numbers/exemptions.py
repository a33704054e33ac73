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
from typing import TYPE_CHECKING, Final

from mongo_tables.findings.usage import CommandError
from mongo_tables.site.site_config import OWN_FILE, read_settings

if TYPE_CHECKING:
    from mongo_tables.site.numbers.classes import TextNumber

_KEYS: Final = ("file", "text", "reason")
_EXAMPLE: Final = 'write file = "README*.md", text = "500 ms" and reason = "a limit of the API", for example'


@dataclass(frozen=True, slots=True)
class Exemption:
    """A text in files whose numbers need no results, with the reason.

    ``file`` is a pattern, relative to the folder of the settings. "" is any file, or any text of it.
    """

    file: str
    text: str
    reason: str

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

    Raises CommandError for an invalid one.
    """
    file = folder / OWN_FILE
    settings = read_settings(file).get("numbers", {}) if file.is_file() else {}
    if not settings:
        return []
    listed = settings.get("exempt") if isinstance(settings, Mapping) and len(settings) == 1 else None
    if not isinstance(listed, list):
        raise CommandError(f"{OWN_FILE}: `numbers` is something other than a list `exempt`", _EXAMPLE)
    found = []
    for number, entry in enumerate(listed, 1):
        keys = entry.keys() if isinstance(entry, Mapping) else set()
        is_valid = "reason" in keys and {"reason"} < keys <= {*_KEYS}
        if not is_valid or not all(isinstance(one, str) and one.strip() for one in entry.values()):
            message = f"{OWN_FILE}: exemption {number} does not have a `reason`, and `file` or `text`, each a string"
            raise CommandError(message, _EXAMPLE)
        found.append(Exemption(*(entry.get(key, "") for key in _KEYS)))
    return found


def apply_exemptions(
    numbers: Sequence[TextNumber], texts: Mapping[str, str], exemptions: Sequence[Exemption], folder: Path
) -> list[TextNumber]:
    """Return the numbers, open ones exempt with a reason. ``texts`` are those of all checked files."""
    reasons: dict[int, str] = {}
    for one in exemptions:
        spans = {file: list(one.spans_in(text)) for file, text in texts.items() if one.names(file, folder)}
        within = [
            at
            for at, each in enumerate(numbers)
            if each.candidate
            and any(start <= each.candidate.offset < end for start, end in spans.get(each.file, ()))
        ]
        reasons = dict.fromkeys(within, one.reason) | reasons
    return [
        replace(one, kind="exempt", reason=reasons[at]) if one.kind == "open" and at in reasons else one
        for at, one in enumerate(numbers)
    ]
