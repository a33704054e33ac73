"""A run of an experiment file on several targets side by side, in blocks and in slices of 40 ms."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from mongo_tables.files.process import TARGET_VARIABLE
from mongo_tables.runner.store import FileStore


def run(file: Path, folder: Path, targets: str, blocks: int) -> list[dict[str, Any]]:
    """The rows that are written into the folder; what the run complains of ends the benchmark."""
    command = [
        sys.executable, "-m", "mongo_tables.program", "run", str(file), "--output", str(folder), "--slices", "40",
        "--seconds", "0.7", "--repeats", str(blocks),
    ]  # fmt: skip
    done = subprocess.run(
        command,
        cwd=Path(__file__).parents[1],
        env={**os.environ, TARGET_VARIABLE: targets},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"the run failed: {done.stderr[-2000:]}")
    return FileStore(folder).rows(file.stem)
