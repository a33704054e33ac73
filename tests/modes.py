"""Programs that obey the modes of files, whoever runs the tests."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PR_CAPBSET_DROP = 24  # linux/prctl.h
_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH = 1, 2  # linux/capability.h
_LIBC = ctypes.CDLL(None)


def _obey_modes() -> None:
    """Before a program begins: root may not look past modes either. Others never could, and may not do this."""
    for capability in (_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH):
        _LIBC.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)


def obedient(module: str, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """What a module of Python does as a program of somebody who is not root."""
    return subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=cwd,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        preexec_fn=_obey_modes,
    )


@contextmanager
def closed(path: Path) -> Iterator[None]:
    """A file or a folder that nobody may read."""
    mode = path.stat().st_mode
    path.chmod(0)
    try:
        yield
    finally:
        path.chmod(mode)
