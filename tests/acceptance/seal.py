"""A seal: code within it that reads the state of the machine fails."""

from __future__ import annotations

import _locale
import _thread
import _uuid
import os
import posix
import random
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from types import BuiltinFunctionType, FrameType
from typing import Any, Final, NoReturn

import pytest

from mongo_tables.files.process import nothing_collected

_EVENTS: Final = ("open", "os.", "socket.", "subprocess.", "sqlite3.")
"""The beginnings of the events of the interpreter that are refused."""
_CALENDAR: Final = frozenset({"now", "today", "utcnow", "fromtimestamp", "astimezone"})
"""Methods of dates that read the clock, or may read the local time zone."""
_ALLOWED: Final = frozenset(
    {"fspath", "_path_normpath", "_path_splitroot_ex", "strftime", "thread_time", "monotonic"}
)
"""Functions that only compute, also ``strftime`` of a given time, and the clocks of the limits of evaluation."""
_SYSTEM: Final = [one for module in (posix, time, _locale, _uuid) for one in vars(module).values()]
_READING: Final = {
    *(one for one in _SYSTEM if isinstance(one, BuiltinFunctionType) and one.__name__ not in _ALLOWED),
    _thread.start_new_thread,
    *(one for one in vars(random).values() if getattr(one, "__self__", None) is random._inst),
}
_refused: list[str] = []
_sealed: int | None = None
"""The thread that is within a seal. Others, which a client of a database has left, read what they like."""


def _is_within() -> bool:
    return _thread.get_ident() == _sealed


def _refuse(what: str) -> NoReturn:
    _refused.append(what)
    raise AssertionError(f"{what} while a site is computed")


def _refuse_event(event: str, arguments: tuple[Any, ...]) -> None:
    if _is_within() and event.startswith(_EVENTS):
        _refuse(f"{event} {arguments[:1]}")


sys.addaudithook(_refuse_event)


def _refuse_call(frame: FrameType, event: str, called: Any) -> None:
    if event != "c_call" or not _is_within():
        return
    owner = getattr(called, "__self__", None)
    is_date = isinstance(owner, date) or (isinstance(owner, type) and issubclass(owner, date))
    if called in _READING or (is_date and called.__name__ in _CALENDAR):
        _refuse(f"{called.__name__} by {frame.f_code.co_qualname}")


def _stub(function: Any, name: str) -> Any:
    return lambda *given, **named: _refuse(name) if _is_within() else function(*given, **named)


class _Environment(dict[Any, Any]):
    """The variables of the environment, which cannot be read from within."""


for _name in ("__getitem__", "__contains__", "__iter__", "__len__", "get", "keys", "values", "items", "copy"):
    setattr(_Environment, _name, _stub(getattr(dict, _name), "a variable of the environment"))


@contextmanager
def sealed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make the block fail that reads anything but its arguments, even if it catches the error. Refused are:

    * whatever opens or lists files, connects, or starts processes: by events of the interpreter;
    * threads, which it would not see into;
    * the functions of ``posix``, ``time`` (but for the clocks of limits), ``_locale`` and ``_uuid``, and of the generator
      that modules share in ``random``: under each name that a loaded module has for them, whether Python or C calls
      them; under any other name, if Python calls them;
    * variables of the environment, ``time.strftime`` of now, and random generators without a seed;
    * ``now``, ``today``, ``utcnow``, ``fromtimestamp`` and ``astimezone`` of dates and of their subclasses, if Python
      calls them.

    It does not see what libraries in C read by themselves, nor the order of sets.
    """
    global _sealed

    def write_time(form: str, *moment: Any) -> str:
        return _refuse("strftime") if _is_within() and not moment else strftime(form, *moment)

    def seed(self: random.Random, a: Any = None, version: int = 2) -> None:
        _refuse("a random seed") if _is_within() and a is None else seed_with(self, a, version)

    strftime, seed_with = time.strftime, random.Random.seed
    stubs = {id(one): _stub(one, one.__name__) for one in _READING}
    # Hypothesis asks for the time with each collection, once a property has run in this process.
    with monkeypatch.context() as patch, nothing_collected():
        patch.setattr(random.Random, "seed", seed)
        patch.setattr(time, "strftime", write_time)
        for environment in (os.environ, os.environb):
            patch.setattr(environment, "_data", _Environment(environment._data))
        patch.setattr(posix, "environ", _Environment(posix.environ))
        for module in list(sys.modules.values()):
            names = getattr(module, "__dict__", {})
            for name in [name for name, value in names.items() if id(value) in stubs]:
                patch.setitem(names, name, stubs[id(names[name])])
        before = sys.getprofile()
        _refused.clear()
        _sealed = _thread.get_ident()
        sys.setprofile(_refuse_call)
        try:
            yield
        finally:
            sys.setprofile(before)
            _sealed = None
    assert not _refused, f"{_refused} while a site is computed"
