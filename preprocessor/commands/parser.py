"""A parser of the command line that knows what was nearly meant."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import NoReturn

from preprocessor.findings.nearest import did_you_mean
from preprocessor.findings.reporters import hint_line

_MISTYPED_OPTION = r"^unrecognized arguments: (?:[^-]\S* )*(--?[\w-]+)"
_MISTYPED_CHOICE = r"invalid choice: '([^']*)' \(choose from (.*)\)"
_QUOTED = r"'([^']+)'"


class HintingParser(argparse.ArgumentParser):
    """A parser that says which command or option a mistyped one is nearest to."""

    def error(self, message: str) -> NoReturn:
        """End with the usage, the message and, where there is one, the nearest word that is known."""
        hint = self._nearest(message)
        super().error(f"{message}\n{hint_line(hint)}" if hint else message)

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """As ``argparse`` does; a command refuses an option that it does not have, since it knows its own."""
        given, unknown = super().parse_known_args(args, namespace)
        if unknown and self._subparsers is None:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return given, unknown

    def _nearest(self, message: str) -> str:
        if found := re.search(_MISTYPED_OPTION, message):
            return did_you_mean(found[1], self._option_string_actions)
        found = re.search(_MISTYPED_CHOICE, message)
        return did_you_mean(found[1], re.findall(_QUOTED, found[2]) or found[2].split(", ")) if found else ""
