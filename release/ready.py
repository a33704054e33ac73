"""Says what keeps a checkout from being released under a tag: ``python -m release.ready v1.2.3``.

The release workflow runs it before anything is built, with a Python that has nothing installed.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

ROOT: Final = Path(__file__).parents[1]
NAMED: Final = ("Changelog", "Documentation", "Issues", "Repository")
"""The addresses that a reader of the package's page looks for."""
_NOBODYS: Final = ("example", "invalid", "localhost", "test")
"""Ends of host names that nobody can have: https://www.rfc-editor.org/rfc/rfc2606."""


def find_faults(root: Path, tag: str) -> Iterator[str]:
    """A line for each thing in the checkout ``root`` that does not fit a release called ``tag``."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    version = _read_constant(root, "__version__")
    if tag != f"v{version}":
        yield f"the tag is {tag}, and __version__ is {version}"
    yield from _look_at_changelog(root, version)
    yield from _look_at_addresses(root, project)
    hooks = tomllib.loads((root / "release/hooks/pyproject.toml").read_text("utf-8"))["project"]
    if hooks["dependencies"] != [f"{project['name']}=={version}"]:
        yield f"release/hooks/pyproject.toml does not install {project['name']}=={version}"


def _read_constant(root: Path, name: str) -> str:
    text = (root / "preprocessor/mongo_tables/__init__.py").read_text("utf-8")
    found = re.search(rf'^{name} = "([^"]*)"$', text, re.MULTILINE)
    return found[1] if found else "not there"


def _look_at_changelog(root: Path, version: str) -> Iterator[str]:
    headings = re.findall(r"^## (.+)$", (root / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    if headings[:1] != ["Unreleased"]:
        yield "CHANGELOG.md does not begin with *Unreleased*"
    elif not re.fullmatch(re.escape(version) + r" - \d{4}-\d\d-\d\d", "".join(headings[1:2])):
        yield f"CHANGELOG.md has no heading `{version} - YYYY-MM-DD` behind *Unreleased*"


def _look_at_addresses(root: Path, project: dict[str, Any]) -> Iterator[str]:
    addresses = project.get("urls", {})
    yield from (f"[project.urls] has no {name}" for name in NAMED if name not in addresses)
    for name, address in addresses.items():
        host = urlsplit(address).hostname or ""
        if host.rpartition(".")[2] in ("", *_NOBODYS):
            yield f"[project.urls] {name}: {address} is nobody's address yet"
    if addresses.get("Documentation") != _read_constant(root, "SITE"):
        yield "[project.urls] Documentation is not SITE in preprocessor/mongo_tables/__init__.py"


def main() -> int:
    """Print what is in the way; give 1 when something is."""
    parser = argparse.ArgumentParser(prog="python -m release.ready", description=__doc__)
    parser.add_argument("tag", help="the tag of the release, v and its version")
    faults = [*find_faults(ROOT, parser.parse_args().tag)]
    print("\n".join(faults) or "ready", file=sys.stderr if faults else sys.stdout)
    return int(bool(faults))


if __name__ == "__main__":
    raise SystemExit(main())
