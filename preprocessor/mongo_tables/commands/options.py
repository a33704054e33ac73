"""Options and help texts of several commands."""

from __future__ import annotations

from argparse import _ActionsContainer
from collections.abc import Mapping
from typing import Any, Final

from mongo_tables.files.process import RESULTS_VARIABLE
from mongo_tables.results.opening import join_kinds, list_kinds

SOURCE = f"""\
results source (--results, else the variable {RESULTS_VARIABLE}, else `results` in mkdocs.yml, properdocs.yml or
zensical.toml, else the folder fixtures/):
{list_kinds()}"""

SOURCES = list_kinds([("REVISION:FOLDER", "fixture files of a Git revision: HEAD~1:fixtures")])
"""The kinds of sources for an argument that may also name a revision of Git."""

EXIT = "exit status: 0 clean, 1 findings, 2 wrong usage or nothing to work with"


_OPTIONS: Final[Mapping[str, Mapping[str, Any]]] = {
    "--results": {"metavar": "SOURCE", "help": f"{join_kinds()}, see below"},
    "--limit": {
        "action": "append",
        "metavar": "NAME=NUMBER",
        "help": "a limit of each pipeline, which overrides the option NAME_limit of the site; the defaults are "
        "processor=60 (seconds, on files), memory=1024 (MiB of a stage), document=16 (MiB), step=200000 (of a regular "
        "expression), time=10 (seconds, on a server), connect=2 (seconds) and row=10000",
    },
    "--pipelines": {"metavar": "DIR", "help": "shared pipelines (default: the site's, else docs/pipelines)"},
    "--config-file": {
        "metavar": "FILE",
        "help": "the site's file (default: the next mkdocs.yml, properdocs.yml or zensical.toml, here or "
        "above)",
    },
}
"""The options about rows, shared pipelines and the site. The site's file has the defaults."""


def add_options(parser: _ActionsContainer, *names: str) -> None:
    """Add the options called ``names`` or, without names, all options of this module."""
    for name in names or _OPTIONS:
        parser.add_argument(*(("-f", name) if name == "--config-file" else (name,)), **_OPTIONS[name])
