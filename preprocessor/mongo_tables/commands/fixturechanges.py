"""What commands that write into a fixture folder share: which folder, and what became of each file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mongo_tables.findings.reporters import escape_control_chars, format_count

if TYPE_CHECKING:
    from mongo_tables.results.pull import FileChange, PullReport
    from mongo_tables.site.site_config import Site


def find_fixture_folder(site: Site) -> str:
    """The folder that the site takes its rows from; where that is something else, the usual one."""
    from mongo_tables.results.opening import is_fixture_folder
    from mongo_tables.site.site_config import results_of

    where = results_of(site)
    return where if is_fixture_folder(where) else "fixtures"


def print_report(report: PullReport, *, dry_run: bool) -> None:
    """Print a line for each file that changed, or was kept, and how many did."""
    for file in report.files:
        if file.kept:
            what = "that the source does not have; delete the file if nobody needs it"
            print(f"kept {_format_path(file)}: {format_count(file.documents, 'document')} {what}")
    changed = [_describe(file) for file in report.files if file.is_change]
    verb = "would change" if dry_run else "changed"
    print("\n".join(changed) if changed else "nothing changed")
    print(f"{len(changed)} of {len(report.files)} files {verb}")


def _format_path(file: FileChange) -> str:
    return escape_control_chars(str(file.path))


def _describe(file: FileChange) -> str:
    documents = format_count(file.documents, "document")
    if file.renamed_from:
        documents = f"renamed from {escape_control_chars(file.renamed_from)}, {documents}"
    if file.rewritten:
        return f"{_format_path(file)}: {documents}, the same in another order or notation"
    return f"{_format_path(file)}: {documents}, {file.added} new, {file.changed} changed, {file.removed} gone"
