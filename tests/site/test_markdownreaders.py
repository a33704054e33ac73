"""Pipe tables in ``page.markdown``: for whoever reads it, whenever they come to a site, and for nobody else."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.site.inprocess import CONFIG, ROWS, built, table, value, write

PLUGINS = "plugins: [search, mongo-tables]\n"
PAGE = f"# Home\n\nThere are {value('one')} trains.\n\n{table('one')}\n"
HOOK = """
def on_post_page(output, *, page, config):
    return output.replace("</body>", f"<pre>{page.markdown}</pre></body>")
"""
TEMPLATE = """
{% extends "base.html" %}
{% block content %}{{ super() }}<pre>{{ page.markdown }}</pre>{% endblock %}
"""
LISTING = "{% for file in pages %}{{ file.page.markdown }}{% endfor %}"
READERS = {
    "a hook": {"mkdocs.yml": f"{CONFIG}{PLUGINS}hooks: [hook.py]\n", "hook.py": HOOK},
    "a template over the theme's": {
        "mkdocs.yml": f"{CONFIG}  custom_dir: own\n{PLUGINS}",
        "own/main.html": TEMPLATE,
    },
    "a template of the site's own": {
        "mkdocs.yml": f"{CONFIG}{PLUGINS}extra_templates: [all.txt]\n",
        "docs/all.txt": LISTING,
    },
}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    files = {"mkdocs.yml": f"{CONFIG}{PLUGINS}", "docs/index.md": PAGE, "fixtures/r/r.jsonl": ROWS}
    return write(tmp_path, files)


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_whoever_comes_to_read_the_markdown_of_pages_gets_tables_from_a_site_that_is_kept_without(
    reader: dict[str, str], site: Path
) -> None:
    assert built(site).done
    write(site, reader)
    for _ in range(2):  # Made, and kept.
        outcome = built(site)
        assert outcome.done, outcome.log
        name = "all.txt" if "docs/all.txt" in reader else "index.html"
        text = (site / "site" / name).read_text()
        assert "There are 5 trains." in text
        assert "| y    |      5 |" in text
        assert "mongo-tables:" not in text


def test_a_site_whose_markdown_nobody_reads_does_not_pay_for_pipe_tables(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def made(*_: object, **__: object) -> list[str]:
        raise AssertionError("a pipe table was made")

    monkeypatch.setattr("mongo_tables.render.pipetable.pipe_table", made)
    hook = "def on_files(files, *, config):\n    return files\n"
    write(site, {"mkdocs.yml": f"{CONFIG}{PLUGINS}hooks: [early.py]\n", "early.py": hook})
    for _ in range(2):
        outcome = built(site)
        assert outcome.done, outcome.log
        assert "<td" in (site / "site" / "index.html").read_text()


QUIET = "from pathlib import Path\nimport re, json as j\n\ndef on_post_page(output, *, page, config):\n    return output\n"
HOOKS = {
    "takes it": ("def on_post_page(output, *, page, config):\n    return output + page . markdown\n", True),
    "names it": (
        "import operator\n\ndef on_post_page(output, *, page, config):\n"
        "    return output + operator.attrgetter('markdown')(page)\n",
        True,
    ),
    "finds it by any name": (
        "def on_post_page(output, *, page, config):\n    return getattr(page, 'x', output)\n",
        True,
    ),
    "imports who takes it": (f"import json, helper\n{QUIET}", True),
    "imports a library": (f"import pytest\n{QUIET}", True),
    "changes Markdown": (f"def on_page_markdown(markdown, **_):\n    return markdown\n{QUIET}", False),
    "reads none": (QUIET, False),
}


@pytest.mark.parametrize(("hook", "reads"), HOOKS.values(), ids=HOOKS)
def test_a_hook_whose_file_never_takes_the_markdown_of_a_page_is_no_reader(
    hook: str, reads: bool, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    pipe_table = "mongo_tables.render.pipetable.pipe_table"
    monkeypatch.setattr(pipe_table, lambda *_, **__: made.append(1) or ["| a |"])
    monkeypatch.syspath_prepend(site)
    monkeypatch.delitem(sys.modules, "helper", raising=False)
    helper = "def read(page):\n    return page.markdown\n"
    write(site, {"mkdocs.yml": f"{CONFIG}{PLUGINS}hooks: [own.py]\n", "own.py": hook, "helper.py": helper})
    outcome = built(site)
    assert outcome.done, outcome.log
    assert bool(made) == reads
