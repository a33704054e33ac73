"""What the disk does by itself: random reads of 4 KiB past the page cache, one after the other.

By ``fio`` (https://fio.readthedocs.io) where it is installed, else by a small loop of our own; the result says which.
"""

from __future__ import annotations

import errno
import json
import mmap
import os
import random
import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mongo_tables.runner.errors import TargetError
from mongo_tables.runner.fulldisk import say_no_space

BLOCK = 4096
FILE_BYTES = 128 * 2**20
SECONDS = 1.5
_WRITTEN_AT_ONCE = 2**20


def measure(directory: Path) -> dict[str, Any] | None:
    """Reads a second and their latencies on the disk of ``directory``, in microseconds.

    None where files cannot be read past the page cache. The file it reads is written for it and removed; raises
    TargetError when it cannot be.
    """
    try:
        with tempfile.NamedTemporaryFile(dir=directory, prefix="baseline-") as file:
            for _ in range(FILE_BYTES // _WRITTEN_AT_ONCE):
                file.write(os.urandom(_WRITTEN_AT_ONCE))
            file.flush()
            os.fsync(file.fileno())
            path = Path(file.name)
            fio = shutil.which("fio")
            return (_by_fio(fio, path) if fio else None) or _by_ourselves(path)
    except OSError as error:
        why = say_no_space(directory.parent) if error.errno == errno.ENOSPC else error.strerror
        message = f"the disk of {directory.parent} cannot be measured: {why}"
        raise TargetError(message, f"it takes a file of {FILE_BYTES >> 20} MiB") from None


def read_report(text: str) -> dict[str, Any]:
    """The figures of a report in JSON that ``fio`` wrote; raises KeyError or ValueError when it has none."""
    read = json.loads(text)["jobs"][0]["read"]
    percentiles = read["clat_ns"]["percentile"]
    return _figures("fio", read["iops"], percentiles["50.000000"] / 1000, percentiles["99.000000"] / 1000)


def _by_fio(program: str, path: Path) -> dict[str, Any] | None:
    command = [
        program, "--name=baseline", f"--filename={path}", f"--size={FILE_BYTES}", "--readonly", "--rw=randread",
        f"--bs={BLOCK}", "--ioengine=psync", "--direct=1", "--time_based", f"--runtime={SECONDS}",
        "--output-format=json",
    ]  # fmt: skip
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS * 20, check=True)
        return read_report(done.stdout)
    except (OSError, subprocess.SubprocessError, KeyError, ValueError):
        return None


def _by_ourselves(path: Path) -> dict[str, Any] | None:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_DIRECT)
    except (AttributeError, OSError):  # no such flag here, or a file system without it
        return None
    try:
        with mmap.mmap(-1, BLOCK) as aligned:
            taken = _read(handle, aligned, random.Random("disk"))
    except OSError:
        return None
    finally:
        os.close(handle)
    speed = len(taken) / (sum(taken) / 1e9)
    return _figures("mongo-tables", speed, _percentile(taken, 0.5), _percentile(taken, 0.99))


def _read(handle: int, block: mmap.mmap, draw: random.Random) -> list[int]:
    """Read blocks until the time is over; the nanoseconds of each."""
    taken: list[int] = []
    clock = time.perf_counter_ns
    end = clock() + round(SECONDS * 1e9)
    while (began := clock()) < end:
        os.preadv(handle, [block], draw.randrange(FILE_BYTES // BLOCK) * BLOCK)
        taken.append(clock() - began)
    return taken


def _percentile(taken: Sequence[int], share: float) -> float:
    """The time in microseconds that this share of the reads did not exceed."""
    return sorted(taken)[round((len(taken) - 1) * share)] / 1000


def _figures(tool: str, iops: float, p50: float, p99: float) -> dict[str, Any]:
    return {
        "tool": tool,
        "block_bytes": BLOCK,
        "iops": float(iops),
        "p50": p50,
        "p99": p99,
        "unit": "microseconds",
    }
