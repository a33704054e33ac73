"""The commit hook: a hook of ``pre-commit`` that runs the check (https://pre-commit.com/#new-hooks)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from preprocessor.commands.init.yamltext import add_item, write_items
from preprocessor.pages.files import PAGE_SUFFIXES
from preprocessor.pages.siteyaml import YAMLError, load

HOOK_FILE: Final = ".pre-commit-config.yaml"
"""What pre-commit reads, in the outermost folder of a repository."""

_COMMAND: Final = "mongo-tables check"
_ID: Final = "mongo-tables-check"


def has_hook(text: str) -> bool:
    """Whether a configuration of pre-commit runs a command of ours already."""
    try:
        settings = load(text)
    except (YAMLError, ValueError, RecursionError):
        return False
    repos = settings.get("repos") if isinstance(settings, dict) else None
    hooks = [hook for repo in _dicts(repos) for hook in _dicts(repo.get("hooks"))]
    return any(_is_ours(str(hook.get(key, ""))) for hook in hooks for key in ("id", "entry"))


def _dicts(listed: Any) -> list[dict[str, Any]]:
    return [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []


def _is_ours(text: str) -> bool:
    return text.startswith(("mongo-tables-", "mongo-tables "))


def add_hook(text: str, watched: Iterable[str]) -> str | None:
    """The configuration with the hook; None where it cannot be added safely.

    It runs when a page changes, or one of ``watched``: files, and folders whose names end in a slash.
    """
    return add_item(text, "repos", _hook_repo(watched))


def hook_text(watched: Iterable[str]) -> str:
    """The entry of the hook as lines of YAML, to add by hand."""
    return "\n".join(["repos:", *write_items([_hook_repo(watched)], "  ")])


def _hook_repo(watched: Iterable[str]) -> dict[str, Any]:
    """The entry of the hook; it runs the program that is installed where one commits."""
    hook = {
        "id": _ID,
        "name": _COMMAND,
        "entry": _COMMAND,
        "language": "system",
        "pass_filenames": False,
        "files": _pattern(watched),
    }
    return {"repo": "local", "hooks": [hook]}


def _pattern(watched: Iterable[str]) -> str:
    """The regular expression of the files that matter, as pre-commit reads it: one of Python's, of POSIX paths."""
    pages = "|".join(suffix.removeprefix(".") for suffix in PAGE_SUFFIXES)
    others = (f"^{_literal(each)}" + ("" if each.endswith("/") else "$") for each in watched)
    return "|".join([rf"\.({pages})$", *others])


def _literal(text: str) -> str:
    return re.escape(text).replace(r"\-", "-")
