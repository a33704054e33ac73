"""What a YAML file of settings says, kept by its text: to import the parser takes as long as to check a page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from mongo_tables.results import bsoncache, cachefolder
from mongo_tables.results.ownfiles import sign_of_program

_FORMAT: Final = "settings 1"


def recall(file: Path, text: str) -> Mapping[str, Any] | None:
    """The settings in a text; None where they are not kept."""
    payload = bsoncache.get(cachefolder.folder_for(file.parent), _key_of(text))
    try:
        found = None if payload is None else json.loads(payload)
    except ValueError:  # No text of ours, whatever its digest says.
        return None
    return found if isinstance(found, dict) else None


def keep(file: Path, text: str, settings: Mapping[str, Any]) -> None:
    """Keep the settings in a text, unless the environment has a say in them, or JSON has not all that they hold."""
    if "ENV" in text or ("%" in text and "!" in text):  # `!ENV`, of which a tag may have letters as %45
        return
    try:
        written = json.dumps(settings)
        is_whole = json.loads(written) == settings
    except (TypeError, ValueError, RecursionError):
        return
    if is_whole:
        bsoncache.put(cachefolder.folder_for(file.parent), {_key_of(text): written.encode("ascii")})


def _key_of(text: str) -> str:
    return bsoncache.key_of(f"{_FORMAT} {sign_of_program()} {text}".encode("utf-8", "surrogatepass"))
