"""Paths as findings show them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.structure.files import File


def shown(path: Path) -> str:
    """A path relative to the working folder where it is below it."""
    return path.relative_to(Path.cwd()).as_posix() if path.is_relative_to(Path.cwd()) else path.as_posix()


def shown_path(file: File) -> str:
    """The path of a page; that within the docs folder where another plugin has generated it."""
    return shown(Path(file.abs_src_path)) if file.abs_src_path else file.src_uri
