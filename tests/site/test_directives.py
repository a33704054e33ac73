"""A new kind of comment takes a schema, a class and a row that shows it; every other place follows from these."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mongo_tables.commands.schema import schema_address
from mongo_tables.directives.keywords import KEYWORDS
from mongo_tables.directives.specs import DIRECTIVES
from mongo_tables.site.kinds import KINDS

ROOT = Path(__file__).parents[2]
SCHEMA = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "title": "An object with a note",
    "description": "The body of a MONGO_SPECIMEN comment: a paragraph.",
    "markdownDescription": "The body of a MONGO_SPECIMEN comment: a paragraph.",
    "x-place": "block",
    "type": "object",
    "additionalProperties": False,
    "required": ["text"],
    "properties": {"text": {"title": "The text", "description": "What it says.", "type": "string"}},
}
CLASS = '''\
@dataclass(frozen=True, kw_only=True, eq=False)
class SpecimenSpec(Spec):
    """A MONGO_SPECIMEN: a paragraph."""

    text: str


'''
KIND = """\
    SpecimenSpec: CommentKind(
        html=lambda spec, context: f'<p class="note">{text_html(spec.text)}</p>',
        markdown=lambda spec, context: [f"Note: {spec.text}"],
        findings=lambda spec, *known: [],
    ),
"""
PAGE = '# Page\n\n<!-- MONGO_SPECIMEN: {"text": "a < b"} -->\n\nThe end.\n'


def test_every_kind_has_two_keywords_a_class_and_a_row_that_shows_it() -> None:
    assert set(KEYWORDS.values()) == set(DIRECTIVES)
    assert set(KEYWORDS) == {f"{word}_{kind.upper()}" for word in ("MONGO", "RESULT") for kind in DIRECTIVES}
    assert set(DIRECTIVES.values()) == set(KINDS)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the program and MONGO_SPECIMEN in it, which three of its files make."""
    folder = tmp_path_factory.mktemp("program")
    package = folder / "mongo_tables"
    shutil.copytree(ROOT / "preprocessor" / "mongo_tables", package)
    (package / "directives/schemas/comments/specimen.schema.json").write_text(json.dumps(SCHEMA), "utf-8")
    insert(package / "directives/specs.py", "DIRECTIVES: Final", CLASS)
    insert(
        package / "directives/specs.py",
        '    "table": TableSpec,',
        '    "specimen": SpecimenSpec,\n',
    )
    insert(package / "site/kinds.py", "    TableSpec: CommentKind(", KIND)
    insert(
        package / "site/kinds.py",
        "from mongo_tables.directives.specs import",
        "from mongo_tables.render.markup import text_html\nfrom mongo_tables.directives.specs import SpecimenSpec\n",
    )
    return folder


def insert(file: Path, before: str, text: str) -> None:
    was = file.read_text("utf-8")
    assert was.count(before) == 1
    file.write_text(was.replace(before, text + before), "utf-8")


def said(program: Path, folder: Path, *arguments: str, status: int = 0) -> str:
    """What Python says, run in ``folder`` with the program of ``program``."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": f"{program}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/index.md").write_text(PAGE)
    (tmp_path / "mkdocs.yml").write_text("site_name: Site\ntheme: mkdocs\nplugins: [mongo-tables]\n")
    return tmp_path


def test_a_new_directive_is_checked(program: Path, site: Path) -> None:
    said(program, site, "-m", "mongo_tables.cli", "check", "docs")
    (site / "docs/index.md").write_text(PAGE.replace("text", "test"))
    found = said(program, site, "-m", "mongo_tables.cli", "check", "docs", status=1)
    assert found.startswith("docs/index.md:3:23: error MT130 a MONGO_SPECIMEN comment has no key `test`")
    (site / "docs/index.md").write_text(PAGE.replace("MONGO_SPECIMEN", "MONGO_SPECIMENS"))
    assert "did you mean `<!-- MONGO_SPECIMEN:`?" in said(
        program, site, "-m", "mongo_tables.cli", "check", "docs", status=1
    )


def test_a_new_directive_is_rendered_and_written_under_its_comment(program: Path, site: Path) -> None:
    assert said(program, site, "-m", "mongo_tables.cli", "render", "docs/index.md") == (
        "# Page\n\nNote: a < b\n\nThe end.\n"
    )
    said(program, site, "-m", "mongo_tables.cli", "render", "--in-place", "docs/index.md")
    text = (site / "docs/index.md").read_text()
    assert "\n\nNote: a < b\n\n<!-- mongo-tables: end -->" in text
    (site / "docs/index.md").write_text(text.replace("a < b\n", "a < c\n"))
    assert "MT164" in said(program, site, "-m", "mongo_tables.cli", "check", "docs", status=1)


def test_a_new_directive_is_shown_on_a_site(program: Path, site: Path) -> None:
    said(program, site, "-m", "mkdocs", "build", "--strict")
    html = (site / "site/index.html").read_text()
    assert '<p class="note">a &lt; b</p>' in html
    assert "MONGO_SPECIMEN" not in html


def test_a_new_directive_is_in_the_reference_and_among_the_schemas(program: Path, tmp_path: Path) -> None:
    told = json.loads(said(program, tmp_path, "-m", "mongo_tables.cli", "schema", "specimen"))
    assert told == {**SCHEMA, "$id": schema_address("specimen")}
    code = "from hooks.referencepages import keys_page; print(keys_page())"
    page = said(program, tmp_path, "-c", code)
    about = "The body of a MONGO_SPECIMEN comment: a paragraph."
    assert f"## `MONGO_SPECIMEN` or `RESULT_SPECIMEN` {{ #mongo_specimen }}\n\n{about}\n" in page
    assert "\n#### `text` { #specimen-text }\n" in page
