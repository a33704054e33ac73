"""The one file with all published documents, as a file that MkDocs knows: pages link to it as to any other.

MkDocs looks for what links lead to while it reads pages. So the file is announced before, and filled when the documents
have been read, shortly before MkDocs writes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mkdocs.structure.files import File

from mongo_tables.site.assets import STYLE_SHEET_FILE
from mongo_tables.site.documents import path_of_all
from mongo_tables.site.pagefigures import list_published
from mongo_tables.site.reporting import log

if TYPE_CHECKING:
    from mkdocs.structure.files import Files

    from mongo_tables.site.sitebuild import SiteBuild


def announce_documents(site: SiteBuild, files: Files) -> None:
    """Add the file, still with another content: plugins take it for granted that a file has a path on disk."""
    if path := _path(site):
        files.append(File.generated(site.config, path, abs_src_path=str(STYLE_SHEET_FILE)))


def fill_documents(site: SiteBuild, files: Files) -> None:
    """Give the file its content, or take it away where there are no documents, as with a server."""
    path = _path(site)
    file = files.get_file_from_path(path) if path else None
    if file is None:
        return
    if content := list_published(site).together:
        file.content_bytes = content
    else:
        log.info("documents: there is no %s, links to it lead nowhere", path)
        files.remove(file)


def _path(site: SiteBuild) -> str:
    """Where the file is to lie; "" where the site wants none."""
    options = site.options
    return path_of_all(options.documents) if options.documents and options.documents_file else ""
