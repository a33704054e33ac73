"""Puts the generated reference pages and the JSON Schemas into the site (a MkDocs hook, see ``mkdocs.yml``)."""

from __future__ import annotations

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from referencepages import PAGES

from mongo_tables.commands.schema import editor_schema
from mongo_tables.directives.schemas import names


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Puts each page in place of the few lines that a clone has of it; adds schemas at ``schemas/NAME.schema.json``."""
    for path, text in PAGES.items():
        if known := files.get_file_from_path(path):
            files.remove(known)
        files.append(File.generated(config, path, content=text()))
    for name in names():
        path = f"schemas/{name}.schema.json"
        files.append(File.generated(config, path, content=editor_schema(name)))
    return files
