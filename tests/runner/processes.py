"""``mongo-tables run`` as a process of its own, and a small experiment for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
COMMAND = (
    "import argparse, sys; from preprocessor.runner import command; "
    "parser = argparse.ArgumentParser(); command.add_arguments(parser); "
    "sys.exit(command.run(parser.parse_args()))"
)

TINY = """\
name = "tiny"
title = "A few documents"
workload = "insert"
repeats = 3
scaled = ["totalDocsToInsert"]

[parameters]
database = "mongo_tables_tiny"
collection = "inserts"
numberOfThreads = 3
writeBatchSize = 7

[[variants]]
docSizeKB = 1.0
totalDocsToInsert = 200

[[variants]]
docSizeKB = 4.0
totalDocsToInsert = 100
nSecondaryIndexes = 1
"""


def start(*arguments, **options):
    """Start ``mongo-tables run`` with these arguments."""
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND, *map(str, arguments)],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options,
    )  # fmt: skip


def finish(process, timeout=120):
    """Wait for it: exit code, standard output, standard error."""
    out, err = process.communicate(timeout=timeout)
    return process.returncode, out, err
