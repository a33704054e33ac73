"""The columns that name rows, as ``--key`` gives them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mongo_tables.findings.usage import UsageError

if TYPE_CHECKING:
    from mongo_tables.site.pages import Page


def read_key(written: str | None, pages: Sequence[Page]) -> list[str]:
    """The columns that name rows. Raises UsageError when no figure shows all of them."""
    key = [name.strip() for name in written.split(",")] if written else []
    shown = ({column for _, column in spec.shown_columns} for page in pages for spec in page.pipeline_specs)
    if key and not any(map(set(key).issubset, shown)):
        raise UsageError(
            f"--key {written}: no table has all of these columns", "name them as the comments do"
        )
    return key
