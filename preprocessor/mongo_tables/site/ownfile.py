"""``mongo-tables.toml``: where results and pages are in a repository from which no site is built.

```toml
results = "bench.json"
pages = ["README.md"]
```

Its other keys are the options that a site gives the plugin.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from mongo_tables.findings.nearest import did_you_mean
from mongo_tables.findings.usage import UsageError
from mongo_tables.results.limitoptions import OPTIONS

OWN_FILE: Final = "mongo-tables.toml"
"""The name of the file."""

_KEYS: Final = ("results", "pages", "pipelines", "server", "fail_on", *OPTIONS)


def require_known_keys(settings: Mapping[str, Any]) -> None:
    """Raise UsageError for a key that means nothing in the file: what it should say would not be done."""
    for key in settings:
        if key not in _KEYS:
            hint = did_you_mean(key, _KEYS) or f"it may have {', '.join(_KEYS)}"
            raise UsageError(f"{OWN_FILE}: there is no key `{key}`", hint)


def own_pages(settings: Mapping[str, Any], folder: Path) -> tuple[Path, ...]:
    """The pages, and the folders of pages, that the file in ``folder`` names; none where it names none.

    Raises UsageError for what is no list of names.
    """
    named = settings.get("pages", [])
    if not isinstance(named, list) or not all(isinstance(each, str) and each for each in named):
        raise UsageError(
            f"{OWN_FILE}: `pages` is not a list of names", 'write pages = ["README.md"], for example'
        )
    return tuple(folder / each for each in named)
