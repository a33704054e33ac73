"""Progress messages of a run: a bar on a terminal, else one line for each finished step."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TextIO

WIDTH = 24


class Progress:
    """Writes to one stream; draws the bar only on a terminal."""

    def __init__(self, stream: TextIO, line_every: float | None = None) -> None:
        """Every ``line_every`` seconds it writes a permanent line, for a log."""
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
        """Show that this many operations are done."""
        if self._line_every and time.monotonic() - self._last_line >= self._line_every:
            self._write_line(done)
        if self._bar:
            self._write(f"\r\x1b[2K{self._line(done)}")

    def _write_line(self, done: int) -> None:
        """Write the work since the last line, and its speed."""
        now = time.monotonic()
        new, seconds = max(0, done - self._last_done), now - self._last_line
        self._last_line, self._last_done = now, done
        self.note(f"{self._label}  {now - self._began:,.0f} s  {done:,} operations  {new / seconds:,.0f}/s")

    def end(self, text: str) -> None:
        """Finish the step; ``text`` is its result."""
        self._write(("\r\x1b[2K" if self._bar else "") + f"{self._label}  {text}\n")

    def note(self, text: str) -> None:
        """Write a message that is not a result."""
        self.clear()
        self._write(f"{text}\n")

    def clear(self) -> None:
        """Remove a half-drawn bar before a message."""
        if self._bar:
            self._write("\r\x1b[2K")

    def _write(self, text: str) -> None:
        """Write the text; a closed terminal does not end a measurement."""
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
