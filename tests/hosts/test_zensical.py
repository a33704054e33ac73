"""Zensical asks for one page at a time, and keeps what it is given: no fault and no old result goes out of there."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import mongo_tables as mongo_tables_package
from tests.commands.test_commands import mongo_tables
from tests.hosts.builds import article, build, sample
from tests.hosts.test_build import with_extension
from tests.hosts.test_serve import Preview

PAGE = "docs/index.md"
BOX = 'class="mongo-table-fault"'
FIXTURE = "fixtures/runs/runs.jsonl"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return with_extension(sample(tmp_path))


@pytest.fixture
def preview(site: Path) -> Iterator[Preview]:
    with Preview(site, program="zensical") as started:
        yield started


def edit(site: Path, file: str, old: str, new: str) -> None:
    path = site / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def watched(site: Path) -> Path:
    config = site / "mkdocs.yml"
    text = config.read_text(encoding="utf-8")
    config.write_text(f"{text}watch:\n  - fixtures\n  - docs/pipelines\n", encoding="utf-8")
    return site


def test_a_preview_shows_a_fault_in_the_page_and_goes_on(preview: Preview) -> None:
    preview.wait("index.html", "139.8")
    preview.edit(PAGE, '["by-threads"]', '["by-threads", { "$match": { "$nope": 1 } }]')
    html = preview.wait("index.html", BOX)
    assert "<code>docs/index.md:11:" in html
    assert "mongo-tables: docs/index.md:11:" in preview.log() and "Traceback" not in preview.log()

    preview.edit(PAGE, '["by-threads", { "$match": { "$nope": 1 } }]', '["by-threads"]')
    preview.wait("index.html", BOX, gone=True)


def test_what_render_writes_is_published_whatever_zensical_keeps(site: Path) -> None:
    """A page that Zensical keeps may have the box of a preview; a page's text changes with its results."""
    with Preview(site, program="zensical") as preview:
        preview.wait("index.html", "139.8")
        preview.edit(PAGE, '["by-threads"]', '["by-thread"]')
        preview.wait("index.html", "MT140")
    edit(site, PAGE, '["by-thread"]', '["by-threads"]')
    config = (site / "mkdocs.yml").read_text(encoding="utf-8")
    (site / "published.yml").write_text(f"docs_dir: rendered/docs\n{config}", encoding="utf-8")
    for old, new in (("139.8", "140.25"), ("140.25", "141.75")):  # within one second
        edit(site, FIXTURE, old, new)
        assert mongo_tables("render", "docs", "--output", "rendered", "--results", "fixtures", cwd=site)
        done = build(site, "-f", "published.yml", program="zensical")
        assert done.returncode == 0, done.stderr
        page = article(site / "site" / "index.html")
        assert new in page and old not in page and BOX not in page


def test_what_another_version_of_the_program_renders_is_published(site: Path, tmp_path: Path) -> None:
    """Pages and results are the same; the texts that Zensical reads are not."""
    config = (site / "mkdocs.yml").read_text(encoding="utf-8")
    (site / "published.yml").write_text(f"docs_dir: rendered/docs\n{config}", encoding="utf-8")
    shutil.copytree(Path(mongo_tables_package.__file__).parent, tmp_path / "next" / "mongo_tables")
    file = tmp_path / "next/mongo_tables/site/markdown.py"
    edit(
        tmp_path,
        str(file),
        "return pipe_table(spec, rows, below=below, picture=picture)",
        'return pipe_table(spec, rows, below=["The next."])',
    )
    for paths, is_next in ((), False), ((tmp_path / "next",), True):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}
        command = [sys.executable, "-m", "mongo_tables.cli", "render", "docs", "--output", "rendered"]
        subprocess.run([*command, "--results", "fixtures"], cwd=site, env=environment, check=True)
        done = build(site, "-f", "published.yml", program="zensical")
        assert done.returncode == 0, done.stderr
        page = article(site / "site" / "index.html")
        assert "139.8" in page and ("The next." in page) is is_next


def test_a_build_says_every_fault_of_every_page_in_a_line(site: Path) -> None:
    edit(site, PAGE, '["by-threads"]', '["by-thread"]')
    edit(site, "docs/guide.md", '"headers": ["Threads"]', '"header": ["Threads"]')
    done = build(site, program="zensical")
    assert done.returncode != 0
    told = [line for line in done.stderr.splitlines() if ": MT" in line]
    assert [line.partition(" ")[0].rpartition(":")[0] for line in told] == [
        "docs/guide.md:37:114",
        "docs/index.md:11:16",
    ], done.stderr
    assert "mongo-tables: 2 errors" in done.stderr


def test_what_a_template_writes_into_another_page_is_not_among_the_faults(site: Path) -> None:
    edit(site, "mkdocs.yml", "  - search\n", "  - search\n  - macros\n")
    table = '{ "id": "t-{{ 1 + 1 }}", "collection": "runs", "pipeline": [], "columns": ["qps"], "headers": ["Q"] }'
    (site / "docs" / "written.md").write_text(f"<!-- MONGO_TABLE: {table} -->\n", encoding="utf-8")
    assert build(site, program="zensical").returncode == 0
    edit(site, PAGE, '["by-threads"]', '["by-thread"]')
    done = build(site, program="zensical")
    assert done.returncode != 0
    assert "MT140" in done.stderr and "written.md" not in done.stderr


def test_a_source_out_of_reach_is_one_fault_of_a_build(site: Path) -> None:
    done = build(site, program="zensical", MONGO_TABLES_RESULTS="mongodb://user:secret@127.0.0.1:9/db")
    assert done.returncode != 0
    assert len([line for line in done.stderr.splitlines() if "MT310" in line]) == 1
    assert "secret" not in done.stdout + done.stderr


def test_a_preview_follows_saved_results_that_the_site_watches(site: Path) -> None:
    with Preview(watched(site), program="zensical") as preview:
        preview.wait("index.html", "139.8")
        preview.edit(FIXTURE, "139.8", "140.25")
        preview.wait("index.html", "140.25")
        assert "watch" not in preview.log()


def test_a_figure_without_a_place_is_a_fault_with_file_and_line(site: Path) -> None:
    value = '<!-- MONGO_VALUE: {"table": "all-runs", "column": "qps", "where": {"threads": 8}} -->'
    (site / "docs" / "lost.md").write_text(f"# Lost\n\nA [link]({value}) here.\n", encoding="utf-8")
    done = build(site, program="zensical")
    assert done.returncode != 0
    assert "docs/lost.md:3:10: MT113" in done.stderr


TWO_BUILDS = """
import json
from pathlib import Path

from zensical.main import cli

from mongo_tables.hosts import markdown_extension

read, reads = markdown_extension.read_folder, []
markdown_extension.read_folder = lambda *given, **more: reads.append(given) or read(*given, **more)
results, pages = Path("fixtures/runs/runs.jsonl"), []
for old, new in (("139.8", "140.25"), ("140.25", "141.75")):
    results.write_text(results.read_text().replace(old, new))
    cli(["build", "--clean"], standalone_mode=False)
    pages.append(Path("site/index.html").read_text())
Path("told.json").write_text(json.dumps([len(reads), *pages]))
"""


def test_each_build_of_a_process_reads_the_site_and_its_results_once(site: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", TWO_BUILDS, "build"], cwd=site, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    reads, first, second = json.loads((site / "told.json").read_text())
    assert "140.25" in first
    assert "141.75" in second and "140.25" not in second
    assert reads == 2
