"""Tables with the id of a heading: `check` knows the anchors that Python-Markdown makes, and `init` avoids them."""

from __future__ import annotations

import json
import re
from pathlib import Path

from markdown import Markdown

from mongo_tables.site.anchors import heading_anchors
from tests.commands.test_commands import mongo_tables
from tests.hosts.test_build import build

PAGE = """\
# Mean latency (ms)

## `insert_many` & **update**: 3.10 – é

## Speed <!-- RESULT_VALUE: {"table": "a"} -->

## [Linked](https://example.org/a) text ##

Underlined
---

## Named {#own .class}

```python
# a comment
```

<!--
# Outdated
-->
"""


def test_anchors_are_those_of_python_markdown() -> None:
    markdown = Markdown(extensions=["toc", "attr_list", "fenced_code"])
    html = markdown.convert(PAGE)
    assert list(heading_anchors(PAGE)) == re.findall(r'<h\d[^>]* id="([^"]+)"', html)


def test_the_first_page_of_a_site_has_no_table_with_the_id_of_its_heading(tmp_path: Path) -> None:
    (tmp_path / "mkdocs.yml").write_text("site_name: x\n")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/index.md").write_text("# Home\n")
    (tmp_path / "results.csv").write_text("name,mean\na,1\nb,2\n")
    mongo_tables("init", cwd=tmp_path)
    page = tmp_path / "docs/results.md"
    assert '"id": "results-table"' in page.read_text()
    assert build(tmp_path, "--strict").returncode == 0
    page.write_text(page.read_text().replace("results-table", "results"))
    done, built = mongo_tables("check", cwd=tmp_path, expect=1), build(tmp_path, "--strict")
    for said in (done.stdout, built.stderr):
        assert "docs/results.md:4:9: MT144" in said.replace(" warning ", " ")
        assert "the heading `Results` has the id `results` already" in said


def test_headings_of_a_readme_are_no_anchors_of_a_site(tmp_path: Path) -> None:
    (tmp_path / "bench.json").write_text(json.dumps([{"name": "a", "mean": 1}, {"name": "b", "mean": 2}]))
    (tmp_path / "mongo-tables.toml").write_text('results = "bench.json"\npages = ["README.md"]\n')
    table = '{"id": "speed", "collection": "bench", "columns": ["name", "mean"], "sort": "name"}'
    (tmp_path / "README.md").write_text(f"# Speed\n\n<!-- RESULT_TABLE: {table} -->\n")
    mongo_tables("render", "--in-place", "README.md", cwd=tmp_path)
    mongo_tables("check", cwd=tmp_path)
