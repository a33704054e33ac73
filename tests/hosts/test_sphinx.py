"""The Sphinx extension: what readers of its pages see, what its builds report, and which pages they read again."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Final
from xml.etree.ElementTree import fromstring

import pytest
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils

from tests.commands.test_commands import mongo_tables
from tests.hosts import inprocess
from tests.hosts.builds import read

CONF: Final = 'project = "Small"\nextensions = ["myst_parser", "mongo_tables.hosts.sphinx_extension"]\n'
ROWS: Final = '{"_id": 1, "a": "x", "n": -3.5}\n{"_id": 2, "a": "y", "n": 5}\n'
TABLE: Final = {
    "id": "speed",
    "title": "Speed",
    "caption": "of both",
    "collection": "r",
    "sort": "_id",
    "columns": ["a", "n"],
    "headers": ["Kind", "Trains"],
}
VALUE: Final = {"table": "speed", "where": {"a": "y"}, "column": "n"}
CHART: Final = {"title": "Drawn", "collection": "r", "sort": "_id", "mark": "bar", "x": "a", "y": "n"}
CHECK: Final = {"table": "speed", "where": {"a": "y"}, "expect": {"n": {"$gt": 4}}}


def comment(keyword: str, body: object) -> str:
    return f"<!-- {keyword}: {json.dumps(body)} -->"


def directive(name: str, body: object) -> str:
    return f".. {name}::\n\n   {json.dumps(body)}\n"


def role(body: object) -> str:
    return f":result-value:`{json.dumps(body)}`"


MYST: Final = f"""# There are {comment("RESULT_VALUE", VALUE)} trains

{comment("RESULT_TABLE", TABLE)}
We count {comment("RESULT_VALUE", VALUE)} *here*.

{comment("RESULT_CHECK", CHECK)}

* An item

    {comment("RESULT_CHART", CHART)}
"""
RST: Final = f"""There are {role(VALUE | {"table": "again"})} trains
==========================================================================================

{directive("result-table", TABLE | {"id": "again"})}
We count {role(VALUE)} *here*, see :ref:`the table <speed>`.

{directive("result-check", CHECK)}
* An item

  .. result-chart::

     {json.dumps(CHART)}
"""
FILES: Final = {
    "mongo-tables.toml": 'results = "fixtures"\n',
    "fixtures/r/a.jsonl": ROWS,
    "docs/conf.py": CONF,
    "docs/index.md": f"{MYST}\n```{{toctree}}\nother\n```\n",
    "docs/other.rst": RST,
}


@dataclass(frozen=True)
class Built:
    status: int
    warnings: str
    log: str

    @property
    def read(self) -> list[str]:
        """The pages that were read in this build."""
        return re.findall(r"reading sources\.\.\. \[ *\d+%\] (\S+)", self.log)


def build(root: Path, builder: str = "html", *, strict: bool = False, jobs: int = 1) -> Built:
    """Build the pages of a project, as ``sphinx-build`` does, into ``docs/_build``."""
    docs, warnings, log = root / "docs", StringIO(), StringIO()
    out = docs / "_build"
    with patch_docutils(str(docs)), docutils_namespace():
        app = Sphinx(
            docs, docs, out / builder, out / "doctrees", builder, None, log, warnings, parallel=jobs,
            warningiserror=strict, verbosity=0,
        )  # fmt: skip
        app.build()
    plain = re.compile(r"\x1b\[[0-9;]*m")
    return Built(app.statuscode, plain.sub("", warnings.getvalue()), plain.sub("", log.getvalue()))


def page(root: Path, name: str) -> str:
    return (root / "docs/_build/html" / f"{name}.html").read_text("utf-8")


def text_of(html: str) -> str:
    body = html[html.index("<h1>") :]
    return " ".join(re.sub(r"<[^>]*>", "", body).split())


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return inprocess.write(tmp_path, FILES)


def change(root: Path, files: Mapping[str, str]) -> Path:
    return inprocess.write(root, files)


def test_both_kinds_of_pages_show_the_cells_and_values_of_mkdocs(site: Path) -> None:
    done = build(site, strict=True)
    assert (done.status, done.warnings) == (0, "")
    change(site, {"mkdocs.yml": f"{inprocess.CONFIG}plugins: [mongo-tables]\n", "docs/index.md": MYST})
    assert inprocess.built(site).done
    expected = read(inprocess.html(site, "index.html")).tables[0]
    assert expected == [["Kind", "Trains"], ["x", "−3.5"], ["y", "5"]]
    for name in ("index", "other"):
        html = page(site, name)
        assert read(html).tables == [expected]
        assert html.count("align-right") == 3
        assert text_of(html).startswith("There are 5 trains")
        assert "We count 5 here" in text_of(html)
        assert "<strong>Speed</strong> of both</span>" in html
        assert not any(word in html for word in ("RESULT_", "result-", "mtf:", "{mtf}"))


def test_a_figure_in_what_is_code_for_myst_is_told_and_shown_as_its_comment(site: Path) -> None:
    table, value = comment("RESULT_TABLE", TABLE), comment("RESULT_VALUE", VALUE)
    change(site, {"docs/index.md": f"# Page\n\n!!! note\n\n    {table}\n\n    It has {value}.\n"})
    told = build(site).warnings
    assert "index.md:5:5: WARNING: MT112 RESULT_TABLE is in text that is code for MyST" in told
    assert "index.md:7:12: WARNING: MT112 RESULT_VALUE is in text that is code for MyST" in told
    html = page(site, "index")
    assert "mtf" not in html
    assert "&lt;!-- RESULT_TABLE" in html and "It has &lt;!-- RESULT_VALUE" in html


def test_a_chart_is_a_picture_file_with_its_content_in_words(site: Path) -> None:
    build(site, strict=True)
    for name in ("index", "other"):
        (image,) = re.findall(r"<img[^>]*>", page(site, name))
        source, alt = (re.search(f'{key}="([^"]*)"', image)[1] for key in ("src", "alt"))
        assert source == f"_images/{name}.chart-drawn.svg"
        assert "Drawn" in alt and "x" in alt
        assert fromstring((site / "docs/_build/html" / source).read_text()).tag.endswith("svg")


def test_a_reference_leads_to_a_table_of_another_page(site: Path) -> None:
    build(site, strict=True)
    assert 'href="index.html#speed"' in page(site, "other")
    assert 'id="speed"' in page(site, "index")


def test_other_builders_have_the_tables_too(site: Path) -> None:
    assert build(site, "text", strict=True).status == 0
    for name in ("index", "other"):
        written = (site / f"docs/_build/text/{name}.txt").read_text()
        assert re.search(r"\| Kind +\| Trains +\|", written)
        assert re.search(r"\| x +\| −3\.5 +\|", written)
        assert "We count 5 *here*" in written


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("docs/other.rst", '"columns"', '"colums"'),
        ("docs/index.md", '"columns"', '"colums"'),
        ("docs/other.rst", '"$gt": 4', '"$gt": 40'),
        ("docs/other.rst", "result-chart", "result-chrt"),
    ],
)
def test_a_fault_fails_a_strict_build_at_the_place_that_check_names(
    name: str, old: str, new: str, site: Path
) -> None:
    change(site, {name: FILES[name].replace(old, new)})
    said = mongo_tables("check", "docs", cwd=site, expect=1).stdout
    places = re.findall(r"^(docs/\S+:\d+:\d+): error (MT\d+ [^\n]*)", said, re.MULTILINE)
    done = build(site, strict=True)
    assert done.status == 1
    assert places
    for place, message in places:
        assert f"{place}: WARNING: {message}" in done.warnings


def test_a_fault_is_reported_again_by_a_second_build(site: Path) -> None:
    change(site, {"docs/other.rst": RST.replace('"$gt": 4', '"$gt": 40')})
    first, second = build(site), build(site)
    assert "MT" in second.warnings
    assert first.warnings == second.warnings


def test_a_figure_with_a_fault_leaves_no_hole_in_the_page(site: Path) -> None:
    change(site, {"docs/other.rst": RST.replace('"columns"', '"colums"')})
    build(site)
    assert "MT130" in text_of(page(site, "other"))


def test_without_results_a_build_says_so_and_a_strict_one_fails(site: Path) -> None:
    change(
        site,
        {"mongo-tables.toml": 'results = "mongodb://me:secret@127.0.0.1:1/db?serverSelectionTimeoutMS=10"\n'},
    )
    done = build(site, strict=True)
    assert done.status == 1
    assert "MT310" in done.warnings
    everything = done.warnings + done.log + page(site, "index") + page(site, "other")
    assert "secret" not in everything


HOSTILE: Final = [
    "<script>alert(1)</script>",
    "*a* **b** `c` :ref:`speed` |x|",
    "$a$ {{ b }} {math}`c` {a=b}",
    '-- "quoted" ... \'s',
    "a\\b | c_ _d_",
    "[x](javascript:alert(1)) ``y``",
]


def test_cells_are_shown_as_they_are_whatever_they_hold(site: Path) -> None:
    rows = [{"_id": number, "a": cell, "n": number} for number, cell in enumerate(HOSTILE)]
    where = VALUE | {"where": {"n": 2}, "column": "a"}
    myst = f"# A\n\n{comment('RESULT_TABLE', TABLE)}\n\nHere {comment('RESULT_VALUE', where)}.\n"
    rst = f"A\n=\n\n{directive('result-table', TABLE | {'id': 'b'})}\nHere {role(where)}.\n"
    extensions = 'myst_enable_extensions = ["dollarmath", "substitution", "attrs_inline"]\n'
    change(
        site,
        {
            "docs/conf.py": CONF + extensions,
            "docs/index.md": f"{myst}\n```{{toctree}}\nother\n```\n",
            "docs/other.rst": rst,
            "fixtures/r/a.jsonl": "".join(json.dumps(row) + "\n" for row in rows),
        },
    )
    build(site)
    for name in ("index", "other"):
        html = page(site, name)
        assert [row[0] for row in read(html).tables[0][1:]] == HOSTILE
        assert "<script>alert" not in html
        assert f"Here {HOSTILE[2]}." in text_of(html)


def test_pages_with_figures_are_read_by_every_build_and_have_new_results(site: Path) -> None:
    change(
        site,
        {
            "fixtures/s/a.jsonl": ROWS,
            "docs/third.md": f"# Third\n\n{comment('RESULT_TABLE', TABLE | {'collection': 's', 'id': 'third'})}\n",
            "docs/plain.md": "# Plain\n",
            "docs/fourth.rst": "Fourth\n======\n\n.. include:: part.txt\n",
            "docs/part.txt": directive("result-table", TABLE | {"collection": "s", "id": "part"}),
        },
    )
    assert len(build(site).read) == 5
    for n in ("7", "8"):
        change(site, {"fixtures/s/a.jsonl": ROWS.replace("5", n)})
        assert build(site).read == ["fourth", "index", "other", "third"]
        for name in ("third", "fourth"):
            assert read(page(site, name)).tables[0][2] == ["y", n]


def test_pages_read_in_parallel_are_the_same_and_have_new_results(site: Path) -> None:
    for number in range(6):
        change(site, {f"docs/more{number}.rst": f":orphan:\n\nMore\n====\n\nWe count {role(VALUE)}.\n"})
    done = build(site, strict=True, jobs=2)
    assert (done.status, done.warnings) == (0, "")
    assert "We count 5." in text_of(page(site, "more5"))
    assert read(page(site, "other")).tables[0][2] == ["y", "5"]
    change(site, {"fixtures/r/a.jsonl": ROWS.replace("5}", "7}")})
    assert len(build(site, jobs=2).read) == len(done.read)
    assert "We count 7." in text_of(page(site, "more5"))


def test_a_directive_of_an_included_file_is_shown_and_judged(site: Path) -> None:
    part = directive("result-table", TABLE | {"id": "part"})
    change(site, {"docs/other.rst": "A\n=\n\n.. include:: part.txt\n", "docs/part.txt": f"Text.\n\n{part}"})
    assert build(site, strict=True).warnings == ""
    assert read(page(site, "other")).tables[0][2] == ["y", "5"]
    change(site, {"docs/part.txt": f"Text.\n\n{part.replace('columns', 'colums')}"})
    assert "docs/part.txt:5:" in build(site).warnings


def test_a_text_that_another_extension_wrote_is_shown(site: Path) -> None:
    hook = "\ndef fill(app, docname, content):\n    content[0] = content[0].replace('KIND', 'x')\n\n\ndef setup(app):\n    app.connect('source-read', fill, priority=100)\n"
    kind = comment("RESULT_VALUE", VALUE | {"where": {"a": "KIND"}})
    change(
        site,
        {
            "docs/conf.py": CONF + hook,
            "docs/other.rst": "A\n=\n",
            "docs/index.md": f"{MYST}\n\nThere {kind}.\n",
        },
    )
    assert "There −3.5." in text_of((build(site), page(site, "index"))[1])


def test_a_comment_in_a_fence_of_myst_is_reported_and_not_published(site: Path) -> None:
    change(
        site,
        {"docs/index.md": f"{MYST}\n```{{note}}\n{comment('RESULT_TABLE', TABLE | {'id': 'inside'})}\n```\n"},
    )
    done = build(site, strict=True)
    assert done.status == 1
    assert "MT119" in done.warnings
    assert "inside" not in page(site, "index")


def test_settings_may_be_beside_the_pages_and_are_judged(site: Path) -> None:
    (site / "mongo-tables.toml").rename(site / "docs/mongo-tables.toml")
    (site / "fixtures").rename(site / "docs/fixtures")
    assert build(site, strict=True).warnings == ""
    change(site, {"docs/mongo-tables.toml": 'result = "fixtures"\n'})
    with pytest.raises(Exception, match="unknown key `result`"):
        build(site)


def test_a_table_that_no_page_has_is_a_fault_on_a_page_with_substitutions_too(site: Path) -> None:
    unknown = comment("RESULT_VALUE", VALUE | {"table": "sped"})
    change(site, {"docs/index.md": f"{MYST}\nBy {{{{ name }}}}: {unknown}.\n\n```{{toctree}}\nother\n```\n"})
    done = build(site, strict=True)
    assert done.status == 1
    assert "MT139" in done.warnings


def test_line_ends_of_windows_and_a_byte_order_mark_change_nothing(site: Path) -> None:
    for name in ("docs/index.md", "docs/other.rst"):
        (site / name).write_bytes(b"\xef\xbb\xbf" + FILES[name].replace("\n", "\r\n").encode())
    done = build(site, strict=True)
    assert (done.status, done.warnings) == (0, "")
    assert read(page(site, "index")).tables == read(page(site, "other")).tables
    change(site, {"fixtures/r/a.jsonl": ROWS.replace("5", "3")})
    assert build(site).warnings.count("docs/other.rst") == 1


def test_the_pages_of_the_guide_build_with_a_table_that_is_called_as_its_heading_is(site: Path) -> None:
    guide = (Path(__file__).parents[2] / "docs/authors/sphinx.md").read_text("utf-8")
    myst, rst = (re.search(f"```{kind}\\n(.*?)```", guide, re.DOTALL)[1] for kind in ("markdown", "rst"))
    rows = [{"name": "write", "mean": 1.5}, {"name": "parse", "mean": 0.0123456789}]
    change(
        site,
        {
            "bench.json": json.dumps(rows),
            "mongo-tables.toml": 'results = "bench.json"\n',
            "docs/index.md": f"{myst}\n```{{toctree}}\nother\n```\n",
            "docs/other.rst": f"{rst.replace('speed', 'again')}\nSee :ref:`it <speed>`, :ref:`this <again>`.\n",
        },
    )
    assert build(site, strict=True).warnings == ""
    for name in ("index", "other"):
        assert [row[0] for row in read(page(site, name)).tables[0]] == ["Name", "parse", "write"]
        assert "Parsing takes 12.3 ms." in text_of(page(site, name))
    (anchor,) = re.findall(r'href="index.html#([^"]+)"><span class="std', page(site, "other"))
    assert f'<table class="docutils align-default" id="{anchor}"' in page(site, "index")


def test_results_of_another_version_are_a_warning(site: Path) -> None:
    rows = ROWS.replace("}\n", ', "version": "1.0.0"}\n')
    old = TABLE | {"measured_of": "pyproject.toml"}
    change(
        site,
        {
            "pyproject.toml": '[project]\nname = "a"\nversion = "2.0.0"\n',
            "fixtures/r/a.jsonl": rows,
            "docs/index.md": MYST.replace(json.dumps(TABLE), json.dumps(old)),
        },
    )
    assert "MT339" in build(site).warnings


def test_translators_get_sentences_that_new_results_do_not_change(site: Path) -> None:
    catalogs = []
    for rows in (ROWS, ROWS.replace("5", "7")):
        change(site, {"fixtures/r/a.jsonl": rows})
        build(site, "gettext", strict=True)
        text = (site / "docs/_build/gettext/index.pot").read_text()
        catalogs.append(re.findall(r'^msgid "((?:There|We) .*|Trains)"$', text, re.MULTILINE))
    assert catalogs[0] == catalogs[1]
    assert len(catalogs[0]) == 2


def test_a_named_value_is_shown_in_tables_whose_columns_have_a_width(site: Path) -> None:
    named = (
        f'{FILES["mongo-tables.toml"]}[values.saved]\ntable = "speed"\ncolumn = "n"\nwhere = {{a = "y"}}\n'
    )
    grid = "+-------------------+---+\n| :result:`saved`   | b |\n+-------------------+---+\n"
    simple = "=============== ==\n:result:`saved`  b\n=============== ==\n"
    rst = f"A\n=\n\nNamed :result:`saved`\\ s.\n\n{grid}\n{simple}"
    change(site, {"mongo-tables.toml": named, "docs/other.rst": rst})
    assert build(site, strict=True).warnings == ""
    assert read(page(site, "other")).tables == [[["5", "b"]], [["5", "b"]]]
    assert "Named 5s." in text_of(page(site, "other"))


def test_two_files_that_a_page_includes_have_figures(site: Path) -> None:
    parts = {
        f"docs/part{number}.txt": directive("result-table", TABLE | {"id": f"p{number}"}) for number in (1, 2)
    }
    parts["docs/part2.txt"] = parts["docs/part2.txt"].replace("Kind", "Second")
    change(site, {**parts, "docs/other.rst": "A\n=\n\n.. include:: part1.txt\n\n.. include:: part2.txt\n"})
    assert build(site, strict=True).warnings == ""
    assert [table[0][0] for table in read(page(site, "other")).tables] == ["Kind", "Second"]
