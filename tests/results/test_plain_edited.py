"""A plain file that is edited while it is read, and gets its old bytes back, leaves nothing behind."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from preprocessor.results import plaincollections
from preprocessor.results.model import Query
from preprocessor.results.opening import open_source


def test_a_large_file_with_its_old_time_again_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MONGO_TABLES_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(plaincollections, "LARGE", 1)
    file, kept, other = tmp_path / "runs.csv", tmp_path / "kept", tmp_path / "other"
    kept.write_text("id,n\n1,11\n")
    other.write_text("id,n\n1,77\n")
    shutil.copystat(kept, other)
    shutil.copy2(kept, file)
    read = plaincollections._read

    def read_other(given: Any, keep: Callable[..., Any]) -> Any:
        file.write_bytes(other.read_bytes())
        shutil.copystat(kept, file)
        found = read(given, keep)
        file.write_bytes(kept.read_bytes())
        shutil.copystat(kept, file)
        return found

    def numbers() -> list[int]:
        return [row["n"] for row in open_source(str(file)).aggregate(Query("runs", ()))]

    with monkeypatch.context() as patch:
        patch.setattr(plaincollections, "_read", read_other)
        assert numbers() == [77]
    assert numbers() == [11]
