"""What comes into a page from other files is told where it stands, and what cannot be seen is never missing in silence."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hosts.builds import build, error_lines
from tests.hosts.plugins.sites import config
from tests.hosts.plugins.smallsite import COLD, data, figures
from tests.hosts.test_serve import Preview

FAULT = figures("one").replace('"collection": "r"', '"colection": "r"', 1)
TAKES_IN = {
    "include-markdown": (
        config("  - include-markdown\n  - OURS"),
        '{% include-markdown "../parts/part.md" %}',
    ),
    "macros": (config("  - macros: {include_dir: .}\n  - OURS"), '{% include "parts/part.md" %}'),
    "snippets": (config("  - OURS", "markdown_extensions: [pymdownx.snippets]"), '--8<-- "parts/part.md"'),
    "snippets of a folder": (
        config("  - OURS", "markdown_extensions:\n  - pymdownx.snippets:\n      base_path: [parts]"),
        '!!! note\n\n    --8<-- "part.md"',
    ),
}


def written(folder: Path, settings: str, page: str, part: str = "") -> Path:
    files = {
        "mkdocs.yml": settings,
        "docs/index.md": page,
        "parts/part.md": part,
        "fixtures/r/r.jsonl": data(COLD),
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize("by", TAKES_IN)
def test_a_fault_in_an_included_file_is_told_at_its_line_there(by: str, tmp_path: Path) -> None:
    settings, line = TAKES_IN[by]
    done = build(written(tmp_path, settings, f"# Home\n\nWords.\n\n{line}\n", FAULT))
    assert done.returncode != 0
    places = [line.partition(" ")[0] for line in error_lines(done.stderr) if "MT130" in line]
    assert places == ["parts/part.md:3:33:"], done.stderr


@pytest.mark.parametrize("by", ["include-markdown", "snippets"])
def test_a_preview_shows_a_fault_in_an_included_file_where_its_table_would_be(
    by: str, tmp_path: Path
) -> None:
    settings, line = TAKES_IN[by]
    with Preview(
        written(tmp_path / "site", settings, f"# Home\n\nWords.\n\n{line}\n\nMore.\n", FAULT)
    ) as preview:
        html = preview.wait("", 'class="mongo-table-fault"')
    fault = "<code>parts/part.md:3:33</code> <b>MT130</b>"
    assert html.count(fault) == 1
    assert html.index("We count") < html.index(fault) < html.index("More than two") < html.index("More.")


def test_a_table_that_comes_twice_into_a_page_is_refused(tmp_path: Path) -> None:
    settings, line = TAKES_IN["snippets"]
    done = build(written(tmp_path, settings, f"{line}\n\nAgain:\n\n{line}\n", figures("one")))
    assert done.returncode != 0
    assert (
        "MT138 the id `one` is on docs/index.md twice (include parts/part.md in a page only once)"
        in done.stderr
    )


def test_what_code_writes_is_refused_with_its_place_and_the_way_out(tmp_path: Path) -> None:
    settings = config("  - markdown-exec\n  - OURS", "markdown_extensions: [pymdownx.superfences]")
    page = f'# Home\n\n```python exec="on"\nprint({figures("one")!r})\n```\n'
    done = build(written(tmp_path, settings, page))
    assert done.returncode != 0
    (line,) = (line for line in error_lines(done.stderr) if "MONGO_TABLE" in line)
    assert line.startswith("docs/index.md:3:1: MT119 "), line
    assert line.endswith(
        "(add the Markdown extension `mongo-tables` in addition to the plugin: it processes such comments)"
    )
