"""Writes which version of MongoDB brought what: ``python -m release.serverversions DEFINITIONS``.

``DEFINITIONS`` is the folder ``definitions`` of MongoDB's mql-specifications (Apache-2.0), a YAML file for each stage
and operator. Names, versions and kinds of arguments are taken from there as they are; where they are wrong, the
catalogue of operators says otherwise, with what is right (``aggregation/catalogue.py``).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

TABLE: Final = Path(__file__).parents[1] / "preprocessor/mongo_tables/aggregation" / "versions.jsonl"
_SOURCE: Final = {
    "source": "the definitions in mql-specifications by MongoDB, Inc., as of July 2026",
    "license": "Apache-2.0",
    "written_by": "python -m release.serverversions",
}
_FOLDERS: Final = {"stage": "stage", "expression": "expression", "query": "query"}
_ACCUMULATORS: Final = ("accumulator", "window")
_PARTS: Final = "switchBranch"
"""What a definition gives that is a part of an operator, and none itself."""
_RESOLVES: Final = "resolvesTo"


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    """Reads the values of BSON in examples, which are of no use here, as nothing."""


_Loader.add_multi_constructor("!", lambda loader, suffix, node: None)


def write_table(definitions: Path) -> str:
    """The text of the table: its source, and a line for each operator of each kind, by kind and name."""
    found = sorted(
        (line for file in sorted(definitions.glob("*/*.yaml")) for line in _read_operator(file)),
        key=lambda line: (line["kind"], line["name"]),
    )
    return "".join(f"{json.dumps(line)}\n" for line in (_SOURCE, *found))


def _read_operator(file: Path) -> Iterator[dict[str, Any]]:
    written = yaml.load(file.read_text("utf-8"), _Loader)
    for kind in _list_kinds(file.parent.name, [_name(one) for one in written.get("type", ())]):
        yield {
            "kind": kind,
            "name": written["name"],
            "since": str(written["minVersion"]),
            "form": written["encode"],
            "arguments": dict(_read_argument(one) for one in written.get("arguments", ())),
        }


def _list_kinds(folder: str, gives: list[str]) -> list[str]:
    if _PARTS in gives:
        return []
    if folder == "accumulator":
        return [kind for kind in _ACCUMULATORS if kind in gives]
    return [_FOLDERS[folder]] if folder in _FOLDERS else []


def _read_argument(written: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """An argument's name, and what is known of it. Whether an expression gives a kind, or it stands there, is one."""
    found: dict[str, Any] = {"takes": sorted({_kind(_name(one)) for one in written["type"]})}
    if "minVersion" in written:
        found["since"] = str(written["minVersion"])
    if written.get("optional"):
        found["optional"] = True
    if "variadic" in written:
        found["variadic"] = written["variadic"]
    return written["name"], found


def _name(written: Any) -> str:
    return str(written["name"] if isinstance(written, Mapping) else written)


def _kind(name: str) -> str:
    plain = name.removeprefix(_RESOLVES)
    return plain[:1].lower() + plain[1:]


def main() -> int:
    """Write the table anew; give the exit status."""
    parser = argparse.ArgumentParser(prog="python -m release.serverversions", description=__doc__)
    parser.add_argument("definitions", type=Path, help="the folder `definitions` of mql-specifications")
    TABLE.write_text(write_table(parser.parse_args().definitions), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
