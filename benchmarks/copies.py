"""How far copies of the same data on one server lie apart, so that nobody takes that for a difference of two servers.

    python -m benchmarks.copies [--copies 4] [--blocks 12]
    python -m benchmarks.copies --servers [--blocks 12]

A replica set of one member is measured as so many targets side by side, each with a database of its own in which the
same is loaded: point reads as ``mongo-tables calibrate`` has them, in blocks and with ``--slices 40``. With
``--servers`` two servers of one version are measured, each with data of its own, in the eight kinds of work of the
experiment ``server_versions``.

Fails where a copy is called faster or slower than the first: it would be by more than what two targets may differ by
without being told apart (``mongo_tables.results.verdicts.NEGLIGIBLE``). Ten blocks of four copies take five minutes.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from string import ascii_lowercase
from typing import Any

from benchmarks import sidebyside
from mongo_tables.runner.experiment import CALIBRATIONS, FOLDER
from mongo_tables.runner.local_address import LocalAddress
from mongo_tables.runner.local_set import LocalReplicaSet


def measure(uri: str, copies: int, blocks: int) -> list[dict[str, Any]]:
    """The rows of a run in which one server has so many names; what it complains of ends the benchmark."""
    targets = " ".join(f"{name}={uri}" for name in ascii_lowercase[:copies])
    with tempfile.TemporaryDirectory() as folder:
        return sidebyside.run(CALIBRATIONS / "point_reads.toml", Path(folder), targets, blocks)


def measure_servers(blocks: int) -> list[dict[str, Any]]:
    """The rows of a run of two servers of one version."""
    with tempfile.TemporaryDirectory() as folder:
        return sidebyside.run(FOLDER / "server_versions.toml", Path(folder), "a=local b=local", blocks)


def say(row: Mapping[str, Any]) -> Iterator[str]:
    """What is concluded of a copy and the first one, or of the first one and itself."""
    for name in ("targets", "slices"):
        if (told := row.get(name)) is not None:
            interval = f"{told['ratio']:.4f} ({told['low']:.4f} to {told['high']:.4f})"
            how = "in blocks" if name == "targets" else "in slices"
            work = row["_id"].get("comment", "")
            yield f"{work} {row['_id']['target']} to {told['against']}, {how}: {interval}, {told['verdict']}"


def find_broken(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What says more than that copies are copies."""
    for row in rows:
        told = [row[name] for name in ("targets", "slices") if name in row]
        if any(one["verdict"] in ("faster", "slower") for one in told):
            yield f"{row['_id'].get('comment', '')} {row['_id']['target']} is called different"


def main() -> int:
    """Print the ratios of all copies to the first; 1 where they differ by too much."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--copies", type=int, default=4)
    parser.add_argument("--blocks", type=int, default=12)
    parser.add_argument("--servers", action="store_true")
    asked = parser.parse_args()
    if asked.servers:
        rows = measure_servers(asked.blocks)
    else:
        server = LocalReplicaSet(LocalAddress(members=1))
        try:
            rows = measure(server.uri, asked.copies, asked.blocks)
        finally:
            server.close()
    print("\n".join(line for row in rows for line in say(row)))
    broken = list(find_broken(rows))
    print("\n".join(broken or ["copies are not told apart"]))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
