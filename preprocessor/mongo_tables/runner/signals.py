"""Signals (Ctrl-C, termination, a closed terminal) during work that must not be interrupted."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, Final

ENDING: Final = ("SIGINT", "SIGTERM", "SIGHUP")
"""The signals that end a run in order."""


@contextmanager
def signals_ignored() -> Iterator[None]:
    """Let a child start with Ctrl-C and a closed terminal ignored: all processes get them, only the runner reacts."""
    with _handled(("SIGINT", "SIGHUP"), signal.SIG_IGN):
        yield


@contextmanager
def first_signal_noted(note: Callable[[], object]) -> Iterator[None]:
    """Continue after the first terminating signal and ``note`` it; the second has its usual effect.

    Ignored signals stay ignored.
    """
    before: dict[int, Any] = {}

    def take(number: int, frame: FrameType | None) -> None:
        _restore(before)
        with suppress(RuntimeError):  # raised if the signal arrives while the stream is writing
            note()

    with _handled(ENDING, take) as handlers:
        before.update(handlers)
        yield


@contextmanager
def _handled(names: Sequence[str], handler: Any) -> Iterator[dict[int, Any]]:
    """Install the handler for the signals that exist and are not ignored; yield the previous handlers."""
    there = (getattr(signal, name) for name in names if hasattr(signal, name))
    before = {one: signal.getsignal(one) for one in there if signal.getsignal(one) != signal.SIG_IGN}
    try:
        for one in before:
            signal.signal(one, handler)
    except ValueError:  # not in the main thread, which receives no signals
        yield {}
        return
    try:
        yield before
    finally:
        _restore(before)


def _restore(before: dict[int, Any]) -> None:
    for one, handler in before.items():
        signal.signal(one, handler)
