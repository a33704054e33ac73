"""Puts the generated reference pages into the site (a MkDocs hook, see ``mkdocs.yml``)."""

from __future__ import annotations

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from preprocessor.reference import PAGES


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds each reference page as if it stood under ``docs/``."""
    for path, text in PAGES.items():
        files.append(File.generated(config, path, content=text()))
    return files
