"""The option ``server``: the version of MongoDB that the pipelines of a site are for."""

from __future__ import annotations

import re


def is_version(written: object) -> bool:
    """Whether an option is a version as MongoDB writes it: 8.0, or 8.0.4."""
    return isinstance(written, str) and re.fullmatch(r"\d+\.\d+(\.\d+)?", written) is not None


def not_a_version(written: object) -> str:
    """What to say of an option that is none. A number loses its last zero: 8.10 would be 8.1."""
    return f'`server` is a version of MongoDB in quotes, such as "8.0", not {written}'
