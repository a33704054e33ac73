"""The folders and links by which files are found, for programs that look again and again whether something changed.

Whatever comes or goes in a folder, such as the hidden file of an editor beside a page, is no change of a way; a folder
that was renamed is.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from mongo_tables.files.states import list_ways


def look_at_ways(place: Path) -> Iterator[tuple[str, str]]:
    """The ways to a place and to all that is not hidden in it; one that was away is another one when it is back."""
    return list_ways(os.path.abspath(place), is_hidden, renamed_alone=True)  # noqa: PTH100 - links are ways


def is_hidden(name: str) -> bool:
    """Whether a file or folder of this name is not shown to who lists a folder."""
    return name.startswith(".")
