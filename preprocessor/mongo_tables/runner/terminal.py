"""The progress of a run on the terminal, and the signals that end a run.

SIGTERM, and SIGHUP when the terminal is closed, are handled like Ctrl-C.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, Final, TextIO

from mongo_tables.findings.usage import print_error

WIDTH = 24


class Progress:
    """The progress of a run on a stream: a line for each finished step and, on a terminal, a bar."""

    def __init__(self, stream: TextIO, line_every: float | None = None) -> None:
        """``line_every`` is the number of seconds between two lines during a step; None means no such lines."""
        self._stream = stream
        self._line_every = line_every
        self._last_line = 0.0
        self._last_done = 0
        self._bar = stream.isatty()
        self._label = ""
        self._total = 0
        self._began = 0.0

    def begin(self, label: str, total: int) -> None:
        """Begin a step of ``total`` operations, 0 if unknown."""
        self._label, self._total, self._began = label, total, time.monotonic()
        self._last_line, self._last_done = self._began, 0
        self.update(0)

    def update(self, done: int) -> None:
        """Show that ``done`` operations are done."""
        if self._line_every and time.monotonic() - self._last_line >= self._line_every:
            self._write_line(done)
        if self._bar:
            self._write(f"\r\x1b[2K{self._line(done)}")

    def _write_line(self, done: int) -> None:
        now = time.monotonic()
        new, seconds = max(0, done - self._last_done), now - self._last_line
        self._last_line, self._last_done = now, done
        self.note(f"{self._label}  {now - self._began:,.0f} s  {done:,} operations  {new / seconds:,.0f}/s")

    def end(self, text: str) -> None:
        """Finish the step. ``text`` is its result."""
        self._write(("\r\x1b[2K" if self._bar else "") + f"{self._label}  {text}\n")

    def note(self, text: str) -> None:
        """Write a message that is not a result."""
        self.clear()
        self._write(f"{text}\n")

    def clear(self) -> None:
        """Erase the bar."""
        if self._bar:
            self._write("\r\x1b[2K")

    def _write(self, text: str) -> None:
        """Write the text. Ignore errors, because a closed terminal must not end a measurement."""
        with suppress(OSError):
            self._stream.write(text)
            self._stream.flush()

    def _line(self, done: int) -> str:
        seconds = time.monotonic() - self._began
        speed = f"{done / seconds:,.0f}/s" if seconds > 0.2 and done else ""
        if not self._total:
            return f"{self._label}  {seconds:.0f} s  {speed}"
        part = min(1.0, done / self._total)
        full = int(part * WIDTH)
        return f"{self._label}  [{'#' * full}{'.' * (WIDTH - full)}] {part:4.0%}  {speed}"


ENDING: Final = ("SIGINT", "SIGTERM", "SIGHUP")
"""The signals that end a run in an orderly way."""


@contextmanager
def signals_ignored() -> Iterator[None]:
    """Ignore SIGINT and SIGHUP, so that child processes that start in this context ignore them, too.

    A terminal sends both signals to all processes, but only the runner must handle them.
    """
    with _handled(("SIGINT", "SIGHUP"), signal.SIG_IGN):
        yield


@contextmanager
def first_signal_noted(note: Callable[[], object]) -> Iterator[None]:
    """Call ``note`` at the first signal of ``ENDING``, and continue. The second signal has its usual effect.

    Signals that are already ignored stay ignored.
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
    """Install the handler for those signals that the system has and the process does not ignore.

    Yield the previous handlers.
    """
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
