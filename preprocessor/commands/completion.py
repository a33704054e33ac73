"""``mongo-tables completion``: a script that makes a shell complete what the program takes."""

from __future__ import annotations

import argparse
from argparse import Namespace
from collections.abc import Iterator

_FILES = frozenset({"PATH", "PAGE", "FILE", "FILE[:LINE]", "SOURCE", "OLD", "NEW"})
_FOLDERS = frozenset({"DIR", "FOLDER"})
"""What stands for a file or a folder in a usage line."""


def run(arguments: Namespace) -> int:
    """Writes the script to standard output."""
    import shtab

    whole = arguments.parser()
    for action in _actions(whole):
        if action.metavar in _FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        elif action.metavar in _FOLDERS:
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
    print(shtab.complete(whole, shell=arguments.shell))
    return 0


def _actions(within: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Every option and argument of a parser and of its commands."""
    for action in within._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _actions(command)
