"""Pages that only changed ones are built of: none is published with a table that is no longer there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hosts.builds import build, sample


@pytest.mark.parametrize("options", [("--dirty",), ("--dirty", "--strict")])
def test_a_build_of_changed_pages_alone_ends_before_it_publishes_stale_figures(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    site = sample(tmp_path)
    assert build(site).returncode == 0
    before = {path: path.read_bytes() for path in site.joinpath("site").rglob("*.html")}
    done = build(site, *options)
    assert done.returncode == 1
    (line,) = (line for line in done.stderr.splitlines() if "mongo-tables" in line)
    assert "--dirty" in line
    assert "`mkdocs build`" in line
    assert "Traceback" not in done.stderr
    assert {path: path.read_bytes() for path in site.joinpath("site").rglob("*.html")} == before
