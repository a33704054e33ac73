"""``mongo-tables completion``: a shell script that completes commands, options and values."""

from __future__ import annotations

import argparse
from typing import Final

import shtab

_FILES: Final = frozenset(
    {"PATH", "PAGE", "FILE", "FILES", "FILE[:LINE]", "SOURCE", "OLD", "NEW", "WHERE", "RESULTS", "CAMPAIGN"}
)
_FOLDERS: Final = frozenset({"DIR", "FOLDER"})
"""The metavars of files and folders."""


def run(arguments: argparse.Namespace) -> int:
    """Print the script. ``arguments.build_parser`` returns the parser of all commands."""
    whole = arguments.build_parser()
    actions = list(whole._actions)
    for action in actions:
        if isinstance(action, argparse._SubParsersAction):
            # The descriptions of commands in the script are their summaries.
            for listed in action._choices_actions:
                command = action.choices[listed.dest]
                command.description = listed.help
                actions += command._actions
        if action.metavar in _FILES:
            action.complete = shtab.FILE
        elif action.metavar in _FOLDERS:
            action.complete = shtab.DIRECTORY
    print(shtab.complete(whole, shell=arguments.shell))
    return 0
