"""MDX 3 and React make of our pages today what is kept in this folder.

A command, not a part of the suite, since it installs them by ``npm``: ``python -m tests.outside mdx``.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest

HERE = Path(__file__).parent
KEPT = ("written.mdx", "written.html", "rendered.mdx", "rendered.html")
SCRIPT = (HERE / "make.sh").read_text(encoding="utf-8")


def run(folder: Path, command: str) -> str:
    """Run a command line with our program on the path; one that fails, fails the test."""
    paths = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The inputs, and the programs that the comment of the script names."""
    found = tmp_path_factory.mktemp("mdx")
    for name in ("m.jsonl", "page.mdx", "make.mjs", "make.sh"):
        shutil.copy(HERE / name, found)
    install = re.search(r"npm install [^&\n]*", SCRIPT)
    assert install is not None
    run(found, install[0])
    return found


def test_pages_compile_to_what_is_kept(folder: Path) -> None:
    run(folder, "sh make.sh")
    for name in KEPT:
        assert (folder / name).read_bytes() == (HERE / name).read_bytes(), name


@pytest.mark.parametrize(
    "text", ["{x}", "<b", "a } b {", "*/}", "`{`", ":a[b]", "&lt;", "# a\n- b", "import x from 'y'", "{/*"]
)
def test_any_text_of_results_compiles_to_itself(folder: Path, text: str) -> None:
    (folder / "m.jsonl").write_text(json.dumps({"_id": 1, "text": text}) + "\n", encoding="utf-8")
    body = '{"id": "t", "collection": "m", "columns": ["text"], "sort": "_id"}'
    value = '{"table": "t", "column": "text", "where": {"_id": 1}}'
    page = folder / "any.mdx"
    page.write_text(
        f"{{/* RESULT_TABLE: {body} */}}\n\nIt is {{/* RESULT_VALUE: {value} */}}.\n", encoding="utf-8"
    )
    run(folder, "mongo-tables render --in-place any.mdx --results m.jsonl")
    html = unescape(
        re.sub(r"<br ?/?>|<[^>]*>", " ", run(folder, "node make.mjs any.mdx").replace("\u200b", ""))
    )
    assert "".join(html.split()).count("".join(text.split())) == 2, html


def test_a_page_with_comments_of_html_does_not_compile(folder: Path) -> None:
    """What these tests compile with refuses what MDX refuses."""
    (folder / "html.mdx").write_text("<!-- a comment -->\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="Unexpected character `!`"):
        run(folder, "node make.mjs html.mdx")
