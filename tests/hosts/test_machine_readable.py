"""A site that asks for it is written for programs too: Markdown, an index, what columns are, and datasets."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest
from bson import json_util

from mongo_tables.cli import main
from mongo_tables.hosts.machine_readable import first_sentence
from tests.hosts.builds import files
from tests.hosts.inprocess import CONFIG, ROWS, built, table, value, write
from tests.measured import document

ON = "plugins:\n  - mongo-tables:\n      machine_readable: true\n"
PAGE = f"""\
# Trains

There are {value("one")} trains, [says](other.md) the **table**. More is below.

* In a list:

    {table("two", 4)}

{table("one")}
<!-- MONGO_CHECK: {{"table": "one", "expect": {{"n": {{"$gt": 1}}}}}} -->
"""
FILES = {
    "docs/index.md": "# Home\n\n```text\nno sentence\n```\n",
    "docs/part/trains.md": f"---\ndescription: About trains.\n---\n{PAGE}",
    "docs/part/other.md": PAGE.replace('"one"', '"third"').replace('"two"', '"fourth"'),
    "fixtures/r/r.jsonl": ROWS,
}
LINK = re.compile('<noscript><link rel="alternate" type="text/markdown" href="([^"]+)"></noscript>')
DATASET = re.compile('<script type="application/ld\\+json">(.*?)</script>')


def site(folder: Path, plugin: str = ON, **more: str) -> Path:
    return write(folder, {"mkdocs.yml": CONFIG + plugin, **FILES, **more}) / "site"


def test_the_markdown_of_a_page_is_what_render_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = site(tmp_path)
    assert built(tmp_path, strict=True).done
    monkeypatch.chdir(tmp_path)
    assert main(["render", "docs", "--output", "rendered"]) == 0
    for name in ("index.md", "part/trains.md", "part/other.md"):
        rendered = (tmp_path / "rendered/docs" / name).read_text("utf-8")
        front, _, rest = rendered.rpartition("---\ndescription: About trains.\n---\n")
        assert (made / name).read_text("utf-8").strip() == rest.strip(), (name, front)
        page = made / (name if name == "index.md" else name.replace(".md", "/index.md"))
        found = LINK.findall(page.with_suffix(".html").read_text("utf-8"))
        assert [(page.parent / one).resolve() for one in found] == [made / name]


def test_the_index_has_each_page_of_the_navigation_with_a_sentence(tmp_path: Path) -> None:
    nav = "nav:\n  - Home: index.md\n  - Parts:\n    - Inner:\n      - part/trains.md\n    - Other: part/other.md\n"
    made = site(tmp_path, f"site_description: Small things\n{nav}{ON}")
    assert built(tmp_path, strict=True).done
    assert (made / "llms.txt").read_text("utf-8").splitlines() == [
        *("# Small", "", "> Small things", "", "## Pages", ""),
        "- [Home](https://example.org/index.md)",
        *("", "## Parts", ""),
        "- [Inner: Trains](https://example.org/part/trains.md): About trains.",
        "- [Other](https://example.org/part/other.md): There are 5 trains, says the table.",
    ]


def test_without_the_option_nothing_is_written_and_nothing_else_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767225600")
    with_it, without = site(tmp_path / "on"), site(tmp_path / "off", "plugins: [mongo-tables]\n")
    assert built(tmp_path / "on").done
    assert built(tmp_path / "off").done
    more, plain = files(with_it), files(without)
    assert not [name for name in plain if name.endswith((".md", "llms.txt", "metadata.json"))]
    for name, content in plain.items():
        text = more[name].decode("utf-8", "replace")
        assert LINK.sub("", text) == content.decode("utf-8", "replace"), name


def test_a_preview_writes_nothing_for_programs(tmp_path: Path) -> None:
    made = site(tmp_path)
    assert built(tmp_path, preview=True).done
    assert not [name for name in files(made) if name.endswith((".md", "llms.txt", "metadata.json"))]


WRITES = """
from pathlib import Path

def on_env(env, config, files):
    file = Path(config.site_dir, "part/trains.md")
    file.parent.mkdir(parents=True)
    file.write_text("theirs")

def on_post_build(config):
    Path(config.site_dir, "part/other.md").write_text("theirs")
    Path(config.site_dir, "llms.txt").write_text("theirs")
"""


def test_files_of_other_plugins_and_of_the_site_stay(tmp_path: Path) -> None:
    hooked = f"hooks: [hook.py]\n{ON}"
    made = site(tmp_path, hooked, **{"hook.py": WRITES})
    assert built(tmp_path, strict=True).done
    for name in ("part/trains.md", "part/other.md", "llms.txt"):
        assert (made / name).read_text("utf-8") == "theirs"
    assert LINK.findall((made / "part/trains/index.html").read_text("utf-8")) == []


def test_an_index_in_the_folder_of_pages_stays(tmp_path: Path) -> None:
    made = site(tmp_path, **{"docs/llms.txt": "mine"})
    assert built(tmp_path, strict=True).done
    assert (made / "llms.txt").read_text("utf-8") == "mine"


RESULTS = """\
# Speeds

<!-- MONGO_TABLE: {"id": "t", "title": "Speed </script>", "collection": "results", "pipeline": [{"$project":
{"size": "$_id.docSizeKB", "speed": {"$first": "$repeats.operations_per_second"}, "at": "$start_time", "ok": {"$literal": true},
"name": "$hardware.cpu", "none": null}}], "columns": ["size", "speed", "at", "ok", "name", "none"],
"headers": ["Size", "Speed", "At", "Right", "Name", "Nothing"], "format": {"size": {"unit": "KiB"}, "none": {"missing": "-"}}} -->
"""


def measured(folder: Path) -> Path:
    lines = "\n".join(json_util.dumps(document(size, day=20 + size)) for size in (1, 2))
    more = {"docs/speeds.md": RESULTS, "fixtures/results/a.jsonl": f"{lines}\n"}
    made = site(folder, **more)
    assert built(folder).done
    return made


def test_each_column_of_a_csv_is_described(tmp_path: Path) -> None:
    made = measured(tmp_path)
    about = json.loads((made / "rows/speeds.t.csv-metadata.json").read_text("utf-8"))
    assert about["@context"] == "http://www.w3.org/ns/csvw"
    columns = about["tableSchema"]["columns"]
    with (made / "rows" / about["url"]).open(encoding="utf-8", newline="") as file:
        assert [one["titles"] for one in columns] == next(csv.reader(file))
    assert [one["datatype"] for one in columns] == [
        *("integer", "number", "dateTime", "boolean", "string", "string")
    ]
    assert "dc:description" in columns[1]


def test_a_page_with_results_is_a_dataset_with_its_files_and_days(tmp_path: Path) -> None:
    made = measured(tmp_path)
    page = made / "speeds/index.html"
    (found,) = DATASET.findall(page.read_text("utf-8"))
    about = json.loads(found)
    assert (about["@context"], about["@type"], about["name"]) == ("https://schema.org", "Dataset", "Speeds")
    assert about["temporalCoverage"] == "2026-11-21/2026-11-22"
    forms = {one["encodingFormat"]: one["contentUrl"] for one in about["distribution"]}
    assert set(forms) == {"text/csv", "application/json"}
    for address in forms.values():
        assert (made / address.removeprefix("https://example.org/")).is_file()
    assert DATASET.findall((made / "part/trains/index.html").read_text("utf-8")) == []


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "# T\n\n<div>\n</div>\n\nIt is `a_b` and 1.5 [wide](x.md), he\nsays. Then more.",
            "It is `a_b` and 1.5 wide, he says.",
        ),
        ("# T\n\n**Bold** &#95;id:\n\n* list", "Bold _id:"),
        ("# T\n\n* only a list of things. Yes.", ""),
        ("", ""),
    ],
)
def test_the_first_sentence_of_a_page_is_plain_text(text: str, sentence: str) -> None:
    assert first_sentence(text) == sentence
