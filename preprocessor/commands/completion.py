"""``mongo-tables completion``: a script that makes a shell complete what the program takes."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

DESCRIPTION = "Prints a script for a shell, which then completes commands, options, their choices, and files."
EPILOG = """\
examples:
  bash   mongo-tables completion bash > ~/.local/share/bash-completion/completions/mongo-tables
  zsh    mongo-tables completion zsh > _mongo-tables, in a folder of $fpath
  fish   mongo-tables completion fish > ~/.config/fish/completions/mongo-tables.fish

exit status: 0 printed, 2 wrong usage"""

_FILES = frozenset({"PATH", "PAGE", "FILE", "FILE[:LINE]", "SOURCE", "OLD", "NEW"})
_FOLDERS = frozenset({"DIR", "FOLDER"})
"""What stands for a file or a folder in a usage line."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add which shell."""
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="which shell")


def run(arguments: argparse.Namespace) -> int:
    """Print the script; ``build_parser`` among the arguments gives the parser of all commands."""
    import shtab

    whole = arguments.build_parser()
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
