"""What commands that measure share: options, what has to be installed, where they measure, and what Ctrl-C does."""

from __future__ import annotations

import signal
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import FrameType
from typing import TYPE_CHECKING

from mongo_tables.commands.options import count, duration, positive, seed
from mongo_tables.files.environment import OUTPUT_VARIABLE, TARGET_VARIABLE, read_variable
from mongo_tables.findings.usage import print_error

if TYPE_CHECKING:
    from mongo_tables.runner.progress import Progress

CLUSTER_EXTRA = ("asyncssh", "cryptography", "distributed")
"""Those that come with the extra ``cluster``."""
EXTRA = ("greenlet", "hdrh", "psutil", "scipy")
"""Modules that come with the extra ``runner``."""


def add_course(parser: ArgumentParser) -> None:
    """Add where what is measured is kept, how it is gone on with, and what else is the same for all of it."""
    parser.add_argument(
        "--output", metavar="WHERE",
        help="folder of fixtures, or connection string of the results database (default: what the variable "
        f"{OUTPUT_VARIABLE} names, else fixtures)",
    )  # fmt: skip
    parser.add_argument(
        "--resume", action="store_true", help="go on with what was interrupted; same options as before"
    )
    parser.add_argument(
        "--progress", type=positive, metavar="N",
        help="write a line of what is done, and how fast, every N seconds, for a log",
    )  # fmt: skip
    parser.add_argument(
        "--dry-run", action="store_true", help="say what would be done, and how long it takes, and do nothing"
    )
    parser.add_argument(
        "--time", type=duration, metavar="TIME",
        help="begin no block after this time, for example 50m; what is measured is kept, and --resume goes on",
    )  # fmt: skip
    parser.add_argument(
        "--processes", type=count, metavar="N",
        help="worker processes that share the connections (default: half of the processors where a target is local, "
        "else all)",
    )  # fmt: skip


def add_seed(parser: ArgumentParser) -> None:
    """Add what makes random numbers others."""
    parser.add_argument(
        "--seed", type=seed, default=1, metavar="N", help="of all random numbers (default: 1)"
    )


def add_machines(parser: ArgumentParser) -> None:
    """Add who loads the target."""
    parser.add_argument(
        "--load-machines", metavar="WHERE",
        help="have several machines load the target, each with --processes (default: as many as it has processors): "
        "ssh:HOST,HOST, or tls://HOST:PORT of a scheduler of Dask whose workers they are, or local:N, so many on this "
        "machine",
    )  # fmt: skip


def check_installed(command: str, load_machines: str | None = None) -> None:
    """Raise RunnerError when what the runner needs beside the package is not there."""
    from mongo_tables.commands.installed import require_extra

    require_extra(command, "runner", EXTRA)
    if load_machines:
        require_extra(f"{command} --load-machines", "cluster", CLUSTER_EXTRA)


def fill_in(arguments: Namespace) -> None:
    """What no option says comes from the environment; of a password in an option everybody is warned."""
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
    """Do the work and leave no half-drawn bar, whatever happens; give 0, and 130 where it is to end.

    That is on Ctrl-C, when the system ends the process, and when its terminal is closed.
    """
    _interrupt_on(("SIGTERM", "SIGHUP"))
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


def _interrupt_on(names: Sequence[str]) -> None:
    """Take these signals as Ctrl-C, where the system has them, and nobody said, as ``nohup`` does, to ignore them."""
    for one in (getattr(signal, name) for name in names if hasattr(signal, name)):
        if signal.getsignal(one) != signal.SIG_IGN:
            signal.signal(one, _interrupt)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
