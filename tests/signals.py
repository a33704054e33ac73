"""Signals as a terminal leaves them, wherever the tests were started from.

`nohup` and background jobs of a shell start programs with Ctrl-C or the end of the terminal ignored, which children
inherit: who sends them such a signal starts them with this.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

OF_A_TERMINAL: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def heed_signals() -> None:
    """Have this process end at Ctrl-C and the like; `preexec_fn` of a program that is sent one."""
    for one in OF_A_TERMINAL:
        signal.signal(one, signal.SIG_DFL)


@contextmanager
def heeded() -> Iterator[None]:
    """Have this process heed them for a while: Ctrl-C raises KeyboardInterrupt, the others end it."""
    before = {one: signal.getsignal(one) for one in OF_A_TERMINAL}
    heed_signals()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
