"""Connection strings that people give: what is wrong with one is said in a line, without its secrets."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TypeVar

from preprocessor.results.secrets import redact, scrub
from preprocessor.runner.errors import RunnerError

T = TypeVar("T")
HINT = "mongodb://USER:PASSWORD@HOST:PORT/DATABASE; percent-encode : / ? # [ ] @ % in user and password"


def shown(where: str) -> str:
    """What somebody gave as a place, to be told in a complaint: what may be a connection string without its secrets."""
    return redact(where) if "@" in where or "://" in where else where


def used(uri: str, what: str, act: Callable[[], T]) -> T:
    """What ``act`` gives that hands the string to the driver; raises RunnerError when the driver cannot use it.

    ``what`` is what the string is for.
    """
    from pymongo.errors import PyMongoError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)  # how the driver tells of options it leaves out
            return act()
    except (PyMongoError, ValueError, OSError, UserWarning) as error:
        text = scrub(str(error), uri).partition("\n")[0]
        if "database name" in text:  # the driver quotes it, and it may be part of a password
            text = "what follows its / names no database"
        raise RunnerError(f"{what} is no usable connection string, {redact(uri)}: {text}", HINT) from None
