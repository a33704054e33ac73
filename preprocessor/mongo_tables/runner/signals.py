"""What Ctrl-C, an end that the system asks for and a closed terminal do to work that is not to be cut off."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, Final

ENDING: Final = ("SIGINT", "SIGTERM", "SIGHUP")
"""Those by which a run is ended in order."""


@contextmanager
def signals_ignored() -> Iterator[None]:
    """Let a child begin with Ctrl-C and a closed terminal ignored: all are told of them, the runner alone answers."""
    with _handled(("SIGINT", "SIGHUP"), signal.SIG_IGN):
        yield


@contextmanager
def first_signal_noted(note: Callable[[], object]) -> Iterator[None]:
    """Go on at the first signal that would end the work, and ``note`` it; the second does what it did before.

    Signals that are ignored stay so.
    """
    before: dict[int, Any] = {}

    def take(number: int, frame: FrameType | None) -> None:
        _restore(before)
        with suppress(RuntimeError):  # it came while the stream wrote, which does not begin anew within that
            note()

    with _handled(ENDING, take) as handlers:
        before.update(handlers)
        yield


@contextmanager
def _handled(names: Sequence[str], handler: Any) -> Iterator[dict[int, Any]]:
    """Have those signals that the system has, and nobody ignores, be taken so; give how they were before."""
    there = (getattr(signal, name) for name in names if hasattr(signal, name))
    before = {one: signal.getsignal(one) for one in there if signal.getsignal(one) != signal.SIG_IGN}
    try:
        for one in before:
            signal.signal(one, handler)
    except ValueError:  # not in the main thread, where no signal arrives
        yield {}
        return
    try:
        yield before
    finally:
        _restore(before)


def _restore(before: dict[int, Any]) -> None:
    for one, handler in before.items():
        signal.signal(one, handler)
