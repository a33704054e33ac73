"""A run and its terminal: a line for each step, and Ctrl-C during work that must not be interrupted.

SIGTERM and the end of the terminal are handled like Ctrl-C.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, Final, TextIO


class Progress:
    """Writes to one stream. Shows the current step only on a terminal."""

    def __init__(self, stream: TextIO, line_every: float | None = None) -> None:
        """For a log, write a permanent line every ``line_every`` seconds; None for no such lines."""
        self._stream = stream
        self._line_every = line_every
        self._last_line = 0.0
        self._last_done = 0
        self._is_terminal = stream.isatty()
        self._label = ""
        self._began = 0.0

    def begin(self, label: str) -> None:
        """Begin a step."""
        self._label, self._began = label, time.monotonic()
        self._last_line, self._last_done = self._began, 0
        self.update(0)

    def update(self, done: int) -> None:
        """Show that this many operations are done, and the speed since the last permanent line."""
        now = time.monotonic()
        seconds = now - self._last_line
        speed = f"  {max(0, done - self._last_done) / seconds:,.0f}/s" if seconds else ""
        line = f"{self._label}  {now - self._began:,.0f} s  {done:,} operations{speed}"
        if self._line_every and seconds >= self._line_every:
            self._last_line, self._last_done = now, done
            self.note(line)
        elif self._is_terminal:
            self._write(f"\r\x1b[2K{line}")

    def end(self, text: str) -> None:
        """Finish the step. ``text`` is its result."""
        self.note(f"{self._label}  {text}")

    def note(self, text: str) -> None:
        """Write a permanent line."""
        self.clear()
        self._write(f"{text}\n")

    def clear(self) -> None:
        """Remove the line of the current step before a message."""
        if self._is_terminal:
            self._write("\r\x1b[2K")

    def _write(self, text: str) -> None:
        """Write the text. A closed terminal does not end a measurement."""
        with suppress(OSError):
            self._stream.write(text)
            self._stream.flush()


ENDING: Final = ("SIGINT", "SIGTERM", "SIGHUP")
"""The signals that end a run in an orderly way."""


@contextmanager
def signals_ignored() -> Iterator[None]:
    """Ignore SIGINT and SIGHUP, also in child processes that start meanwhile.

    A terminal sends both signals to all processes, but only the runner must react.
    """
    with _handled(("SIGINT", "SIGHUP"), signal.SIG_IGN):
        yield


@contextmanager
def first_signal_noted(note: Callable[[], object]) -> Iterator[None]:
    """At the first terminating signal, call ``note`` and continue. The second signal has its usual effect.

    Signals that are ignored already stay ignored.
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
    """Install the handler for the signals that exist and are not ignored. Yield the previous handlers."""
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
