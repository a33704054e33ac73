"""A command line parser that suggests corrections."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import NoReturn

from mongo_tables.findings.finding import did_you_mean, nearest_word
from mongo_tables.findings.reporters import hint_line

_MISTYPED_OPTION = r"^unrecognized arguments: (?:[^-]\S* )*(--?[\w-]+)"
_MISTYPED_CHOICE = r"invalid choice: '([^']*)' \(choose from (.*)\)"
_MISSING = "the following arguments are required"
_QUOTED = r"'([^']+)'"


class HintingParser(argparse.ArgumentParser):
    """A parser that suggests the most similar command or option for a mistyped name."""

    given: Sequence[str] = ()

    def error(self, message: str) -> NoReturn:
        """Exit with the usage, the message and, if possible, a suggestion.

        An unknown option is reported first, because it may cause other errors.
        """
        unknown = self._find_unknown_option()
        if unknown and (message.startswith(_MISSING) or self._subparsers is not None):
            message = f"unrecognized arguments: {unknown}"
        hint = self._nearest(message)
        super().error(f"{message}\n{hint_line(hint)}" if hint else message)

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse the arguments. The parser of a command exits for unknown options, so that it can suggest others."""
        self.given = args or ()
        given, unknown = super().parse_known_args(args, namespace)
        if unknown and self._subparsers is None:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return given, unknown

    def _find_unknown_option(self) -> str:
        """Return the first unknown long option before ``--`` and before the name of a command, or ""."""
        for word in self.given:
            if word == "--" or (self._subparsers is not None and not word.startswith("-")):
                break
            name = word.partition("=")[0]
            if name.startswith("--") and not any(one.startswith(name) for one in self._option_string_actions):
                return name
        return ""

    def _nearest(self, message: str) -> str:
        if found := re.search(_MISTYPED_OPTION, message):
            options = {one.lstrip("-"): one for one in self._option_string_actions if one.startswith("--")}
            if near := nearest_word(found[1].lstrip("-"), options):
                return f"did you mean `{options[near]}`?"
            return "options of a command follow its name" if self._subparsers is not None else ""
        found = re.search(_MISTYPED_CHOICE, message)
        if found is None:
            return ""
        known = re.findall(_QUOTED, found[2]) or found[2].split(", ")
        lists = f"`{self.prog} --help` lists them" if self._subparsers is not None else ""
        return did_you_mean(found[1], known) or lists
