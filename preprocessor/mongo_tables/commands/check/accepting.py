"""The baseline of ``check``: a file of the findings that a site has today and accepts."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mongo_tables.files import atomic
from mongo_tables.findings.baseline import BaselineError, compare_with_baseline, format_baseline
from mongo_tables.findings.reporters import escape_control_chars
from mongo_tables.findings.usage import UsageError
from mongo_tables.site.disk import read_text

if TYPE_CHECKING:
    from mongo_tables.findings.finding import Finding


def accept(findings: Sequence[Finding], file: Path) -> int:
    """Write the baseline that accepts ``findings``; give the exit status."""
    file.parent.mkdir(parents=True, exist_ok=True)
    atomic.write(file.resolve(), format_baseline(findings, file.parent).encode("utf-8"))
    print(f"{escape_control_chars(str(file))}: accepted findings: {len(findings)}", file=sys.stderr)
    return 0


def leave_out_accepted(findings: Sequence[Finding], file: Path) -> Sequence[Finding]:
    """Give the findings that the baseline ``file`` does not accept; say how many of its own are gone.

    Raises UsageError when the file is no baseline.
    """
    if not file.is_file():
        raise UsageError(f"{file}: no such file", "write it once with --write-baseline")
    try:
        outcome = compare_with_baseline(findings, read_text(file), file.parent)
    except BaselineError as error:
        raise UsageError(f"{file} is no baseline: {error}", "write it anew with --write-baseline") from None
    if outcome.gone:
        print(
            f"accepted findings that are gone: {outcome.gone}; --write-baseline forgets them", file=sys.stderr
        )
    return outcome.new
