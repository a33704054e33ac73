"""The commit hook: a hook of ``pre-commit`` that runs the check (https://pre-commit.com/#new-hooks)."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from yaml import YAMLError

from mongo_tables.commands.init.yamltext import add_item, write_items
from mongo_tables.site.settings_files import load_yaml

HOOK_FILE: Final = ".pre-commit-config.yaml"
"""What pre-commit reads, in the outermost folder of a repository."""

_PROGRAM: Final = "mongo-tables"
_COMMAND: Final = f"{_PROGRAM} check"
_LANGUAGE: Final = "system"
_ID: Final = "mongo-tables-check"
_OURS: Final = ("mongo-tables-", "mongo-tables ")
"""How the id or the command of a hook of ours begins."""


class Hook(NamedTuple):
    """A hook that checks before each commit.

    ``config`` is the file that says what is checked, as seen from the outermost folder; "" for the one in that.
    """

    config: str

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
        """The entry; it runs the program that is installed where one commits, with the libraries that it has there.

        It runs whatever is committed: pre-commit passes over a hook with ``files`` where these were removed.
        """
        options = f" --config-file {shlex.quote(self.config)}" if self.config else ""
        hook = {
            "id": _ID,
            "name": _COMMAND,
            "description": f"runs the {_PROGRAM} of the environment that is active: `{_LANGUAGE}` looks on the PATH",
            "entry": f"{_COMMAND} --numbers{options}",
            "language": _LANGUAGE,
            "pass_filenames": False,
            "always_run": True,
        }
        return {"repo": "local", "hooks": [hook]}


def _our_hooks(text: str) -> Iterator[str]:
    """What the hooks of ours run, with their arguments."""
    try:
        settings = load_yaml(text)
    except (YAMLError, ValueError, RecursionError):
        return
    repos = settings.get("repos") if isinstance(settings, dict) else None
    for hook in (hook for repo in _dicts(repos) for hook in _dicts(repo.get("hooks"))):
        if any(str(hook.get(key, "")).startswith(_OURS) for key in ("id", "entry")):
            yield f"{hook.get('entry', '')} {hook.get('args', '')}"


def _dicts(listed: Any) -> list[dict[str, Any]]:
    return [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
