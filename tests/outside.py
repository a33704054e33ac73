"""Tests that need what is not part of this project: commands, so that nothing is skipped in a clone.

``python -m tests.outside published FOLDER`` renders a published page of thirty-two tables, and holds the linter
and the check of numbers against it: ``FOLDER`` has ``seeds/mongodb-performance-tables.md`` and ``published/*.csv``. ``python -m tests.outside tcpd FOLDER`` holds change points against the annotated series of the
Turing Change Point Dataset, of which ``FOLDER`` has ``annotations.json`` and the series. ``python -m tests.outside
specifications FOLDER -s`` counts what a check says of the pipelines in MongoDB's mql-specifications, and holds the table
of versions to them. ``python -m tests.outside ycsb``
lets YCSB and go-ycsb run on what we have loaded, and the other way round; both programs have to be there.
``python -m tests.outside benchmarks`` has benchmark tools write files anew, and reads them. ``python -m tests.outside
mdx`` compiles pages with MDX 3, which ``npm`` installs. ``python -m tests.outside atlas FOLDER`` has the runner
work on a fake Atlas, and holds every request and answer against the specification of the Administration API, which
``FOLDER`` has as ``atlas/administration-api-cut.yaml``. ``python -m tests.outside
packages`` installs the wheel and the sdist, with what they need, into empty environments. More arguments go to pytest.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import pytest

HERE = Path(__file__).parent
FOLDER = "MONGO_TABLES_OUTSIDE"
"""Environment variable with the folder that is given."""


def outside_folder() -> Path:
    """Where the published page and its figures are, or the annotated series."""
    return Path(os.environ[FOLDER])


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.outside", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("published").add_argument("folder", type=Path)
    commands.add_parser("tcpd").add_argument("folder", type=Path)
    commands.add_parser("specifications").add_argument("folder", type=Path)
    commands.add_parser("atlas").add_argument("folder", type=Path)
    commands.add_parser("ycsb")
    commands.add_parser("benchmarks")
    commands.add_parser("mdx")
    commands.add_parser("packages")
    given, more = parser.parse_known_args()
    files = {
        "published": (
            "acceptance/published_page.py",
            "lint/published_page.py",
            "site/numbers/published_page.py",
        ),
        "tcpd": ("results/annotated_series.py",),
        "specifications": ("lint/specification_pipelines.py",),
        # Not the folder: pytest would take the first of them for a part of it, and leave it out.
        "atlas": (
            "runner/atlas/contract_calls.py",
            *sorted(str(one.relative_to(HERE)) for one in (HERE / "runner/atlas").glob("test_*.py")),
        ),
        "ycsb": ("runner/ycsb_peers.py",),
        "benchmarks": ("results/formats/made_anew.py",),
        "mdx": ("site/mdx/compiled.py",),
        "packages": ("release/installed.py",),
    }
    if "folder" in given:
        os.environ[FOLDER] = str(given.folder.absolute())
    return int(pytest.main([*(str(HERE / file) for file in files[given.command]), *more]))


if __name__ == "__main__":
    raise SystemExit(main())
