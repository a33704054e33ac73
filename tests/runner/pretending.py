"""A server of known behaviour in a process of its own, and what it counted."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from pymongo import MongoClient

from tests.runner.processes import ROOT

READS = {"collection": "things", "query": {"_id": "RANDINT(1,1000)"}, "limit": 1, "testTimeSecs": 60}


@contextmanager
def pretending(**behaviour: float) -> Iterator[str]:
    """The connection string of ``benchmarks.pretending`` with these options."""
    options = [f"--{name.replace('_', '-')}={value}" for name, value in behaviour.items()]
    command = [sys.executable, "-m", "benchmarks.pretending", *options]
    server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        yield f"mongodb://localhost:{server.stdout.readline().strip()}/?directConnection=true"
    finally:
        server.kill()
        server.wait()
        server.stdout.close()


def counted(uri: str, opens: int, closes: int) -> dict[str, int]:
    """What the server counted between two moments."""
    with MongoClient(uri) as client:
        return client.admin.command({"counted": 1, "from": opens, "to": closes})
