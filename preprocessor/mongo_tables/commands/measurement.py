"""Code shared by commands that measure: required modules, the environment, and interrupts."""

from __future__ import annotations

import importlib.util
import signal
from argparse import Namespace
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from mongo_tables.files.process import OUTPUT_VARIABLE, TARGET_VARIABLE, install_command, read_variable
from mongo_tables.findings.usage import CommandError, print_error

if TYPE_CHECKING:
    from mongo_tables.runner.terminal import Progress

CLUSTER_EXTRA = ("cryptography", "distributed")
"""Modules of the extra ``cluster``."""
EXTRA = ("greenlet", "hdrh", "psutil", "scipy")
"""Modules of the extra ``runner``."""


def require_extra(command: str, extra: str, modules: Iterable[str]) -> None:
    """Raise CommandError if a command needs a missing module of an extra."""

    if any(importlib.util.find_spec(name) is None for name in modules):
        raise CommandError(f"command {command} needs the extra {extra}", install_command(extra))


def require_intervals(command: str) -> None:
    """Raise CommandError if intervals cannot be computed."""
    require_extra(command, "runner", ("scipy",))


def require_runner(command: str, load_machines: str | None = None) -> None:
    """Raise CommandError if a module is missing that the runner, or its load machines, need."""
    require_extra(command, "runner", EXTRA)
    if load_machines:
        require_extra(f"{command} --load-machines", "cluster", CLUSTER_EXTRA)


def fill_in(arguments: Namespace) -> None:
    """Fill in missing options from the environment; warn of a password in an option."""
    from mongo_tables.runner.target import parse_targets, split_targets

    given = arguments.target or []
    _warn_of_secrets("target", TARGET_VARIABLE, given)
    arguments.target = parse_targets(given or split_targets(read_variable(TARGET_VARIABLE)) or ["local"])
    _warn_of_secrets("output", OUTPUT_VARIABLE, [arguments.output] if arguments.output else [])
    arguments.output = arguments.output or read_variable(OUTPUT_VARIABLE) or "fixtures"


def _warn_of_secrets(name: str, variable: str, given: Sequence[str]) -> None:
    from mongo_tables.results.source_text import holds_secret

    if any(map(holds_secret, given)):
        print_error(
            f"warning: the password in --{name} is in the list of processes, which every user of this machine can read",
            f"leave out --{name} and put the connection string into the variable {variable}",
        )


def end_in_order(progress: Progress, work: Callable[[], None]) -> int:
    """Do the work, and always remove a half-drawn bar. Return 0, or 130 after an interrupt.

    Ctrl-C, a termination signal and a closed terminal interrupt the work.
    """
    for one in (getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)):
        if signal.getsignal(one) != signal.SIG_IGN:  # ``nohup``, for example, ignores it
            signal.signal(one, signal.default_int_handler)
    try:
        work()
    except KeyboardInterrupt:
        progress.clear()
        with suppress(OSError):  # the terminal may be gone
            print_error(
                "interrupted", "finished measurements are kept, and the same command with --resume continues"
            )
        return 130
    except Exception:
        progress.clear()
        raise
    return 0
