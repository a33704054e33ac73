"""``mongo-tables completion``: a shell script that completes commands, options and values."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
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
_EXPERIMENT_LIST: Final = ("experiments", "name")
_WORKLOADS: Final = ("calibrate", "workload")

# bash splits --option=value into three words; the generated script treats an option and its value as two.
_JOINING: Final = """
_mongo_tables() {
  local -a words=()
  local at index=$COMP_CWORD
  for at in "${!COMP_WORDS[@]}"; do
    if [[ ${COMP_WORDS[at]} != "=" ]]; then
      words+=("${COMP_WORDS[at]}")
    elif (( at == COMP_CWORD )); then
      words+=("")
    elif (( at < COMP_CWORD )); then
      (( index-- ))
    fi
  done
  COMP_WORDS=("${words[@]}")
  COMP_CWORD=$index
  _shtab_mongo_tables "$@"
}

complete -o bashdefault -F _mongo_tables mongo-tables"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the shell."""
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="which shell")


def run(arguments: argparse.Namespace) -> int:
    """Print the script, or ``build_parser`` in the arguments returns the parser of all commands."""
    import shtab

    whole = arguments.build_parser()
    for command, action in _list_actions(whole):
        if known := _list_names(command, action):
            action.choices = known
        elif action.metavar in _FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        elif action.metavar in _FOLDERS:
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
    script = shtab.complete(whole, shell=arguments.shell)
    print(_take_joined_values(script, arguments.shell))
    return 0


def _list_actions(whole: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.Action]]:
    """Yield every option and argument with its command, which the list of commands describes."""
    for action in whole._actions:
        yield "", action
        if isinstance(action, argparse._SubParsersAction):
            for listed in action._choices_actions:
                command = action.choices[listed.dest]
                command.description = listed.help
                yield from ((listed.dest, each) for each in command._actions)


def _list_names(command: str, action: argparse.Action) -> Sequence[str]:
    """Return the values of an argument that the program knows, or nothing for other arguments."""
    if action.dest == "experiment" or (command, action.dest) == _EXPERIMENT_LIST:
        from mongo_tables.runner.experiment import names

        return names()
    if (command, action.dest) == _WORKLOADS:
        from mongo_tables.runner.experiment import CALIBRATIONS, names

        return names(CALIBRATIONS)
    return ()


def _take_joined_values(script: str, shell: str) -> str:
    """Return the script that also completes the value of ``--option=value``. In fish only files are missing there."""
    if shell == "bash":
        return re.sub(r"\n(complete .*) -F _shtab_mongo_tables mongo-tables", lambda _: _JOINING, script)
    if shell == "zsh":
        return re.sub(r'(?m)(--[\w-]+)(\}?"?)\[(?=.*\]:[^"]*:)', r"\1=\2[", script)
    return re.sub(r"(?m)^(.* -l .*) -xka \"\(__fish_complete_path .*?\)\"", r"\1 -rF", script)
