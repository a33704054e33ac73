"""Files that pages need and Git does not track."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from pathlib import Path

from mongo_tables.commands.check.pages import CheckedPages
from mongo_tables.findings.finding import Finding
from mongo_tables.findings.rules import finding
from mongo_tables.results.file_source import FileSource
from mongo_tables.results.revisions import run_git
from mongo_tables.site.dependencies import needs_of
from mongo_tables.site.site_config import from_here


def find_untracked(checked: CheckedPages, local: FileSource | None) -> Iterator[Finding]:
    """Yield MT311 for results and drawings that Git neither tracks nor ignores: a fresh checkout would lack them."""
    listed = run_git("ls-files", "--others", "--exclude-standard", "-z").stdout.decode("utf-8", "replace")
    untracked = {os.path.realpath(name) for name in listed.split("\0") if name}
    needed: dict[str, str] = {}
    for site in checked.sites if untracked else ():
        for page in site.named:
            path = Path(os.path.realpath(page.file))
            if str(path) not in untracked:
                drawings = (one for one in site.snapshot.drawings if one.name.startswith(f"{path.stem}."))
                needs = needs_of(page, site, local).files
                needed |= dict.fromkeys((*needs, *map(from_here, drawings)), page.file)
    for file, page_file in needed.items():
        if os.path.realpath(file) in untracked:
            message = f"Git does not track this file, which {page_file} needs: a fresh checkout lacks it"
            yield finding("MT311", file, (0, 0), message, f"git add {shlex.quote(file)}")
