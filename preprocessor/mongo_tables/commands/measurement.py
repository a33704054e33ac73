"""What commands that measure share: what has to be installed, where they measure, and what Ctrl-C does."""

from __future__ import annotations

import importlib.util
import signal
from argparse import Namespace
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from types import FrameType
from typing import TYPE_CHECKING

from mongo_tables.files.environment import OUTPUT_VARIABLE, TARGET_VARIABLE, read_variable
from mongo_tables.findings.usage import print_error

if TYPE_CHECKING:
    from mongo_tables.runner.progress import Progress

CLUSTER_EXTRA = ("asyncssh", "cryptography", "distributed")
"""Modules that come with the extra ``cluster``."""
EXTRA = ("greenlet", "hdrh", "psutil", "scipy")
"""Modules that come with the extra ``runner``."""


def require_extra(command: str, extra: str, modules: Iterable[str]) -> None:
    """Raise RunnerError where a module of an extra is missing that a command needs."""
    from mongo_tables.runner.errors import RunnerError

    if any(importlib.util.find_spec(name) is None for name in modules):
        raise RunnerError(
            f"command {command} needs the extra {extra}", f"pip install 'mongo-tables[{extra}]'"
        )


def require_intervals(command: str) -> None:
    """Raise RunnerError where intervals cannot be computed."""
    require_extra(command, "runner", ("scipy",))


def require_runner(command: str, load_machines: str | None = None) -> None:
    """Raise RunnerError where a module is missing that the runner, or its load machines, need."""
    require_extra(command, "runner", EXTRA)
    if load_machines:
        require_extra(f"{command} --load-machines", "cluster", CLUSTER_EXTRA)


def fill_in(arguments: Namespace) -> None:
    """Take from the environment what no option says; warn of a password in an option."""
    from mongo_tables.runner.named_targets import parse_targets, split_targets

    given = arguments.target or []
    _warn_of_secrets("target", TARGET_VARIABLE, given)
    arguments.target = parse_targets(given or split_targets(read_variable(TARGET_VARIABLE)) or ["local"])
    _warn_of_secrets("output", OUTPUT_VARIABLE, [arguments.output] if arguments.output else [])
    arguments.output = arguments.output or read_variable(OUTPUT_VARIABLE) or "fixtures"


def _warn_of_secrets(name: str, variable: str, given: Sequence[str]) -> None:
    from mongo_tables.results.secrets import holds_secret

    if any(map(holds_secret, given)):
        print_error(
            f"warning: the password in --{name} stands in the list of processes, which every user of this "
            "machine can read",
            f"leave out --{name} and put the connection string into the variable {variable}",
        )


def end_in_order(progress: Progress, work: Callable[[], None]) -> int:
    """Do the work and leave no half-drawn bar, whatever happens; give 0, or 130 after an interrupt.

    Ctrl-C interrupts, and so does the system that ends the process, and a terminal that is closed.
    """
    for one in (getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)):
        if signal.getsignal(one) != signal.SIG_IGN:  # Nobody said, as ``nohup`` does, to ignore it.
            signal.signal(one, _interrupt)
    try:
        work()
    except KeyboardInterrupt:
        progress.clear()
        with suppress(OSError):  # the terminal may be gone
            print_error("interrupted", "what is measured is kept, and the same command with --resume goes on")
        return 130
    except Exception:
        progress.clear()
        raise
    return 0


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
