"""The commit hook: a hook of ``pre-commit`` that runs the check (https://pre-commit.com/#new-hooks)."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from preprocessor.commands.init.yamltext import add_item, write_items
from preprocessor.pages.files import PAGE_SUFFIXES
from preprocessor.pages.siteyaml import YAMLError, load

HOOK_FILE: Final = ".pre-commit-config.yaml"
"""What pre-commit reads, in the outermost folder of a repository."""

_COMMAND: Final = "mongo-tables check"
_ID: Final = "mongo-tables-check"
_OURS: Final = ("mongo-tables-", "mongo-tables ")
"""How the id or the command of a hook of ours begins."""


class Hook(NamedTuple):
    """A hook that checks when a page changes, or one of ``watched``: files, and folders whose names end in a slash.

    ``config`` is the file that says what is checked; "" for the one in the outermost folder. Paths are as seen from
    there.
    """

    config: str
    watched: tuple[str, ...]

    def is_in(self, text: str) -> bool:
        """Whether a configuration of pre-commit runs such a hook already."""
        if not self.config:
            return any("--config-file" not in hook for hook in _our_hooks(text))
        return any(self.config in hook for hook in _our_hooks(text))

    def add_to(self, text: str) -> str | None:
        """The configuration with the hook; None where it cannot be added safely."""
        return add_item(text, "repos", self._repo())

    def by_hand(self) -> str:
        """The entry of the hook as lines of YAML."""
        return "\n".join(["repos:", *write_items([self._repo()], "  ")])

    def _repo(self) -> dict[str, Any]:
        """The entry; it runs the program that is installed where one commits."""
        options = f" --config-file {shlex.quote(self.config)}" if self.config else ""
        hook = {
            "id": _ID,
            "name": _COMMAND,
            "entry": f"{_COMMAND}{options}",
            "language": "system",
            "pass_filenames": False,
            "files": _pattern(self.watched),
        }
        return {"repo": "local", "hooks": [hook]}


def _our_hooks(text: str) -> Iterator[str]:
    """What the hooks of ours run, with their arguments."""
    try:
        settings = load(text)
    except (YAMLError, ValueError, RecursionError):
        return
    repos = settings.get("repos") if isinstance(settings, dict) else None
    for hook in (hook for repo in _dicts(repos) for hook in _dicts(repo.get("hooks"))):
        if any(str(hook.get(key, "")).startswith(_OURS) for key in ("id", "entry")):
            yield f"{hook.get('entry', '')} {hook.get('args', '')}"


def _dicts(listed: Any) -> list[dict[str, Any]]:
    return [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []


def _pattern(watched: Iterable[str]) -> str:
    """The regular expression of the files that matter, as pre-commit reads it: one of Python's, of POSIX paths."""
    pages = "|".join(suffix.removeprefix(".") for suffix in PAGE_SUFFIXES)
    others = (f"^{_literal(each)}" + ("" if each.endswith("/") else "$") for each in watched)
    return "|".join([rf"\.({pages})$", *others])


def _literal(text: str) -> str:
    return re.escape(text).replace(r"\-", "-")
