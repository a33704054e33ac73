"""The limits of the site's file hold in its builds, whichever program builds it."""

from __future__ import annotations

from pathlib import Path

import markdown
import pytest

from mongo_tables.hosts.markdown_extension import MongoTablesError, MongoTablesExtension
from tests.commands.test_limits import DOUBLED, project
from tests.hosts.builds import build

PIPELINE = [{"$project": {"n": {"$size": DOUBLED}}}]


@pytest.mark.parametrize("limit", ["memory_limit: 30", "memory_limit: 0.5"])
def test_a_limit_of_mkdocs_yml_ends_the_build_with_stage_and_limit(limit: str, tmp_path: Path) -> None:
    site = project(tmp_path, PIPELINE)
    (site / "mkdocs.yml").write_text(f"site_name: Runs\nplugins:\n  - mongo-tables:\n      {limit}\n")
    done = build(site)
    assert done.returncode == 1
    assert "MT301 stage 1, $project: a stage used more than" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"memory_limit": 30}, "stage 1, .project: a stage used more than 30 MiB"),
        ({"memory_limit": "30"}, "stage 1, .project: a stage used more than 30 MiB"),
        ({"memory_limit": "much"}, "memory_limit must be a number above 0, not much"),
    ],
)
def test_a_limit_of_the_extension_ends_the_conversion_with_stage_and_limit(
    options: dict[str, object], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = project(tmp_path, PIPELINE)
    monkeypatch.chdir(site)
    page = (site / "docs" / "page.md").read_text()
    with pytest.raises(MongoTablesError, match=said):
        markdown.markdown(page, extensions=[MongoTablesExtension(results="fixtures", **options)])
