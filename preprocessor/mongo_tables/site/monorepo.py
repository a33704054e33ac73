"""Sites within a site, as mkdocs-monorepo-plugin puts them together.

https://github.com/backstage/mkdocs-monorepo-plugin
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

PLUGINS: Final = ("monorepo", "techdocs-core")
"""The plugin, and one that brings it along."""

_ONE: Final = "!include "
_SEVERAL: Final = "*include "


def find_included_sites(nav: object, folder: Path) -> Iterator[Path]:
    """The files of the sites that a ``nav`` includes, in order; its paths are relative to ``folder``.

    An include has a title in front of it: the plugin passes over others without a word.
    """
    for entry in nav if isinstance(nav, list) else ():
        value = next(iter(entry.values()), None) if isinstance(entry, dict) else None
        if isinstance(value, list):
            yield from find_included_sites(value, folder)
        elif isinstance(value, str) and value.startswith(_ONE):
            yield folder / value.removeprefix(_ONE)
        elif isinstance(value, str) and value.startswith(_SEVERAL):
            with suppress(OSError, ValueError, NotImplementedError):  # The plugin ends at such a pattern.
                yield from sorted(folder.glob(value.removeprefix(_SEVERAL)))


def folder_in_site(name: str) -> str:
    """The folder in which the pages of a site with this name are among those of the whole."""
    if re.fullmatch(r"[a-zA-Z0-9_.\-/]+", name):
        return name
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
