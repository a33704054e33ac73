"""Environment variables and interrupts of commands that measure."""

from __future__ import annotations

import signal
from argparse import Namespace
from collections.abc import Callable, Sequence
from contextlib import suppress

from mongo_tables.files.process import OUTPUT_VARIABLE, TARGET_VARIABLE, read_variable
from mongo_tables.findings.usage import print_error
from mongo_tables.results.source_text import holds_secret
from mongo_tables.runner.target import parse_targets
from mongo_tables.runner.terminal import Progress


def fill_in(arguments: Namespace) -> None:
    """Fill in missing options from environment variables. Print a warning if an option has a password."""
    given = arguments.target or []
    _warn_of_secrets("target", TARGET_VARIABLE, given)
    arguments.target = parse_targets(given or read_variable(TARGET_VARIABLE).split() or ["local"])
    _warn_of_secrets("output", OUTPUT_VARIABLE, [arguments.output] if arguments.output else [])
    arguments.output = arguments.output or read_variable(OUTPUT_VARIABLE) or "fixtures"


def _warn_of_secrets(name: str, variable: str, given: Sequence[str]) -> None:
    if any(map(holds_secret, given)):
        print_error(
            f"warning: every user of this machine can read the password in --{name} in the list of processes",
            f"put the connection string into the variable {variable} instead of --{name}",
        )


def end_in_order(progress: Progress, work: Callable[[], None]) -> int:
    """Do the work, and clear the progress bar if it fails. Return 0, or 130 after an interrupt.

    Ctrl-C, a termination signal and a closed terminal interrupt the work.
    """
    for one in (getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)):
        if signal.getsignal(one) != signal.SIG_IGN:  # ``nohup``, for example, ignores SIGHUP
            signal.signal(one, signal.default_int_handler)
    try:
        work()
    except KeyboardInterrupt:
        progress.clear()
        with suppress(OSError):  # the terminal may be gone
            print_error(
                "interrupted", "finished measurements are kept; the same command with --resume continues"
            )
        return 130
    except Exception:
        progress.clear()
        raise
    return 0
