"""How a command that measures begins and ends: what has to be installed, where it measures, and what Ctrl-C does."""

from __future__ import annotations

import signal
from argparse import Namespace
from collections.abc import Callable, Sequence
from types import FrameType
from typing import TYPE_CHECKING

from preprocessor.files.environment import OUTPUT_VARIABLE, TARGET_VARIABLE, read_variable
from preprocessor.findings.usage import print_error

if TYPE_CHECKING:
    from preprocessor.runner.progress import Progress

EXTRA = ("greenlet", "hdrh", "psutil", "scipy")
"""Modules that come with the extra ``runner``."""


def check_installed() -> None:
    """Raise RunnerError when what the runner needs beside the package is not there."""
    from importlib.util import find_spec

    from preprocessor.runner.errors import RunnerError

    missing = [name for name in EXTRA if find_spec(name) is None]
    if missing:
        hint = "pip install 'mkdocs-mongo-tables[runner]'"
        raise RunnerError(f"what runs experiments is not installed: {', '.join(missing)}", hint)


def fill_in(arguments: Namespace) -> None:
    """What no option says comes from the environment; of a password in an option everybody is warned."""
    from preprocessor.runner.namedtargets import parse_targets, split_targets

    given = arguments.target or []
    _warn_of_secrets("target", TARGET_VARIABLE, given)
    arguments.target = parse_targets(given or split_targets(read_variable(TARGET_VARIABLE)) or ["local"])
    _warn_of_secrets("output", OUTPUT_VARIABLE, [arguments.output] if arguments.output else [])
    arguments.output = arguments.output or read_variable(OUTPUT_VARIABLE) or "fixtures"


def _warn_of_secrets(name: str, variable: str, given: Sequence[str]) -> None:
    from preprocessor.results.secrets import holds_secret

    if any(map(holds_secret, given)):
        print_error(
            f"warning: the password in --{name} stands in the list of processes, which every user of this "
            "machine can read",
            f"leave out --{name} and put the connection string into the variable {variable}",
        )


def end_in_order(progress: Progress, work: Callable[[], None]) -> int:
    """Do the work and leave no half-drawn bar, whatever happens; give 0, and 130 on Ctrl-C or SIGTERM."""
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        work()
    except KeyboardInterrupt:
        progress.clear()
        print_error("interrupted", "what is measured is kept, and the same command with --resume goes on")
        return 130
    except Exception:
        progress.clear()
        raise
    return 0


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
