"""Numbers that need no results: the settings ``[[numbers.exempt]]`` of ``mongo-tables.toml``.

[[numbers.exempt]]
file = "README*.md"
text = "a timeout of 500 ms"
reason = "a limit of the API"
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mongo_tables.files.folders import place_at
from mongo_tables.findings.usage import CommandError
from mongo_tables.site.site_config import OWN_FILE, read_settings

if TYPE_CHECKING:
    from mongo_tables.site.numbers.classes import TextNumber

_EXAMPLE: Final = 'write file = "README*.md", text = "500 ms" and reason = "a limit of the API", for example'
_KEYS: Final = frozenset({"file", "text", "reason"})


def exempt(numbers: Sequence[TextNumber], texts: Mapping[str, str], folder: Path) -> list[TextNumber]:
    """Return the numbers, open ones exempt with the reason in the settings of a folder.

    ``texts`` are those of all checked files. Raises CommandError for invalid settings.
    """
    places = [
        (file, place_at(text, found.start()), place_at(text, found.end()), entry["reason"])
        for entry in _read_exemptions(folder)
        for file, text in texts.items()
        if _is_named(file, entry.get("file", "*"), folder)
        for found in re.finditer(
            r"\s+".join(map(re.escape, entry.get("text", "").split())) or r"(?s:.*)", text
        )
    ]

    def reason_of(one: TextNumber) -> str:
        within = (why for file, start, end, why in places if file == one.file and start <= one.at < end)
        return next(within, "") if one.kind == "open" else ""

    return [replace(one, kind="exempt", reason=why) if (why := reason_of(one)) else one for one in numbers]


def _is_named(file: str, pattern: str, folder: Path) -> bool:
    path = Path(file).absolute()
    within = path.relative_to(folder) if path.is_relative_to(folder) else path
    return fnmatchcase(within.as_posix(), pattern) or fnmatchcase(path.name, pattern)


def _read_exemptions(folder: Path) -> list[Mapping[str, str]]:
    file = folder / OWN_FILE
    settings = (read_settings(file).get("numbers") if file.is_file() else None) or {"exempt": []}
    listed = settings.get("exempt") if isinstance(settings, Mapping) and len(settings) == 1 else None
    if not isinstance(listed, list):
        raise CommandError(f"{OWN_FILE}: `numbers` is something other than a list `exempt`", _EXAMPLE)
    for number, entry in enumerate(listed, 1):
        is_full = isinstance(entry, Mapping) and {"reason"} < entry.keys() <= _KEYS
        if not is_full or not all(isinstance(one, str) and one.strip() for one in entry.values()):
            message = f"{OWN_FILE}: exemption {number} does not have a `reason`, and `file` or `text`, each a string"
            raise CommandError(message, _EXAMPLE)
    return listed
