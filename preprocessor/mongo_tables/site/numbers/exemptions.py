"""Numbers that need no results: the settings ``[[numbers.exempt]]`` of ``mongo-tables.toml``.

[[numbers.exempt]]
file = "README*.md"
text = "a timeout of 500 ms"
reason = "a limit of the API"
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from mongo_tables.files.folders import place_at
from mongo_tables.findings.usage import CommandError
from mongo_tables.site.site_config import OWN_FILE, read_settings

if TYPE_CHECKING:
    from mongo_tables.site.numbers.classes import TextNumber

Position = tuple[int, int]
_EXAMPLE: Final = 'write file = "README*.md", text = "500 ms" and reason = "a limit of the API", for example'


class Exemption(NamedTuple):
    """A text in files whose numbers need no results, with the reason.

    ``file`` is a pattern, relative to the folder of the settings. "" is any file, or any text of it.
    """

    reason: str
    file: str = ""
    text: str = ""

    def places_in(self, file: str, text: str, folder: Path) -> Iterator[tuple[Position, Position]]:
        """Yield where it holds in a file, whatever the spaces and line ends between its words."""
        path = Path(file).absolute()
        within = path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.as_posix()
        if not self.file or any(fnmatchcase(one, self.file) for one in (within, path.name)):
            words = r"\s+".join(map(re.escape, self.text.split()))
            for found in re.finditer(words or r"(?s:.*)", text):
                yield place_at(text, found.start()), place_at(text, found.end())


def read_exemptions(folder: Path) -> list[Exemption]:
    """Return the exemptions in ``mongo-tables.toml`` of a folder, or none without such a file.

    Raises CommandError for an invalid one.
    """
    file = folder / OWN_FILE
    settings = (read_settings(file).get("numbers") if file.is_file() else None) or {"exempt": []}
    listed = settings.get("exempt") if isinstance(settings, Mapping) and len(settings) == 1 else None
    if not isinstance(listed, list):
        raise CommandError(f"{OWN_FILE}: `numbers` is something other than a list `exempt`", _EXAMPLE)
    for number, entry in enumerate(listed, 1):
        keys = entry.keys() if isinstance(entry, Mapping) else set()
        is_full = {"reason"} < keys <= set(Exemption._fields)
        if not is_full or not all(isinstance(one, str) and one.strip() for one in entry.values()):
            message = f"{OWN_FILE}: exemption {number} does not have a `reason`, and `file` or `text`, each a string"
            raise CommandError(message, _EXAMPLE)
    return [Exemption(**entry) for entry in listed]


def apply_exemptions(
    numbers: Sequence[TextNumber], texts: Mapping[str, str], exemptions: Sequence[Exemption], folder: Path
) -> list[TextNumber]:
    """Return the numbers, open ones exempt with a reason. ``texts`` are those of all checked files."""
    places = [
        (file, start, end, one.reason)
        for one in exemptions
        for file, text in texts.items()
        for start, end in one.places_in(file, text, folder)
    ]
    found = []
    for one in numbers:
        reasons = (why for file, start, end, why in places if file == one.file and start <= one.at < end)
        reason = next(reasons, "") if one.kind == "open" else ""
        found.append(replace(one, kind="exempt", reason=reason) if reason else one)
    return found
