"""``mongo-tables completion``: a shell script that completes commands, options and values."""

from __future__ import annotations

import argparse

DESCRIPTION = (
    "Prints a script for a shell. With it, the shell completes commands, options, choices and files."
)
EPILOG = """\
examples:
  bash   mongo-tables completion bash > ~/.local/share/bash-completion/completions/mongo-tables
  zsh    mongo-tables completion zsh > _mongo-tables, in a folder of $fpath
  fish   mongo-tables completion fish > ~/.config/fish/completions/mongo-tables.fish

exit status: 0 printed, 2 wrong usage"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the name of the shell."""
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="the shell")
