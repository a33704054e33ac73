"""``mongo-tables completion``: a shell script that completes commands, options and values."""

from __future__ import annotations

import argparse
from typing import Final

DESCRIPTION = "Prints a script for a shell, which then completes commands, options, their choices, and files."
EPILOG = """\
examples:
  bash   mongo-tables completion bash > ~/.local/share/bash-completion/completions/mongo-tables
  zsh    mongo-tables completion zsh > _mongo-tables, in a folder of $fpath
  fish   mongo-tables completion fish > ~/.config/fish/completions/mongo-tables.fish

exit status: 0 printed, 2 wrong usage"""

_FILES: Final = frozenset(
    {"PATH", "PAGE", "FILE", "FILES", "FILE[:LINE]", "SOURCE", "OLD", "NEW", "WHERE", "RESULTS", "CAMPAIGN"}
)
_FOLDERS: Final = frozenset({"DIR", "FOLDER"})
"""The metavars of files and folders."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the shell."""
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="which shell")


def run(arguments: argparse.Namespace) -> int:
    """Print the script. ``arguments.build_parser`` returns the parser of all commands."""
    import shtab

    whole = arguments.build_parser()
    actions = list(whole._actions)
    for action in actions:
        if isinstance(action, argparse._SubParsersAction):
            for (
                listed
            ) in action._choices_actions:  # Commands have their descriptions from the list of commands.
                command = action.choices[listed.dest]
                command.description = listed.help
                actions += command._actions
        if action.metavar in _FILES:
            action.complete = shtab.FILE
        elif action.metavar in _FOLDERS:
            action.complete = shtab.DIRECTORY
    print(shtab.complete(whole, shell=arguments.shell))
    return 0
