"""The documents behind a site's rows are published whole where the site wants it, and not at all where it does not."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import urljoin

import pytest
from bson import json_util

from mongo_tables.hosts.published_files import PublishedDocuments
from mongo_tables.results import file_documents, file_source
from mongo_tables.results.file_listing import ResultsFile
from mongo_tables.results.model import Query
from mongo_tables.results.opening import open_source
from tests.hosts.builds import build, build_twice, sample
from tests.hosts.inprocess import CONFIG, ROWS, built, table, write
from tests.measured import document

LINK = re.compile('<td><a href="([^"]+)">JSON</a></td>')


def published(folder: Path) -> PublishedDocuments:
    return PublishedDocuments.of(open_source(str(folder)).local, "results")


def fixtures(folder: Path, **lines: str) -> Path:
    (folder / "results").mkdir(parents=True)
    for name, text in lines.items():
        (folder / "results" / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return folder


def test_a_document_is_named_by_what_was_measured(tmp_path: Path) -> None:
    line = '{"_id": {"docSizeKB": 4.0, "testname": "insert_docsize"}, "big": [1, 2]}'
    found = published(fixtures(tmp_path, a=f"\ufeff\n \n{line}\n"))
    assert found.files == {"documents/results/insert-docsize.docsizekb-4-0.json": f"{line}\n".encode()}


def test_what_is_named_alike_is_numbered_in_the_order_of_the_files(tmp_path: Path) -> None:
    found = published(fixtures(tmp_path, b='{"_id": "X"}\n', a='{"_id": "x"}\n{"_id": "é/../x"}'))
    assert list(map(bytes.decode, found.files.values())) == [
        '{"_id": "x"}\n',
        '{"_id": "é/../x"}',
        '{"_id": "X"}\n',
    ]
    assert list(found.paths) == ["'x'", "'é/../x'", "'X'"]
    assert len({path.lower() for path in found.files}) == 3
    assert all(re.fullmatch(r"documents/results/[a-z0-9-]+\.json", path) for path in found.files)


KEYS = [
    '{"a": 1, "b": 3000000000, "c": 1.0, "d": null}',
    '{"a": {"$numberLong": "1"}, "at": {"$date": "2026-11-21T05:28:42.425Z"}}',
    '{"$oid": "0123456789abcdef01234567"}',
    '"a, {\\"_id\\": 1}"',
    "7",
]


@pytest.mark.parametrize("first", [True, False], ids=["first", "behind others"])
def test_a_document_is_found_by_the_key_that_the_source_gives(first: bool, tmp_path: Path) -> None:
    shape = '{{"_id" : {}, "x": {}}}' if first else '{{"x": {1}, "_id": {0}}}'
    folder = fixtures(tmp_path, a="\n".join(shape.format(key, number) for number, key in enumerate(KEYS)))
    found = published(folder)
    rows = open_source(str(folder)).aggregate(Query("results", ()))
    assert len(rows) == len(KEYS)
    for row in rows:
        address = found.address("p/", "results", row["_id"])
        text = found.files[urljoin("https://host/p/", address).removeprefix("https://host/")]
        assert json_util.loads(text)["x"] == row["x"]


@pytest.mark.parametrize(
    ("page", "way"), [("./", ""), ("a/b/", "../../"), ("a/b.html", "../"), ("b.html", "")]
)
def test_an_address_leads_from_the_page_to_the_document(page: str, way: str, tmp_path: Path) -> None:
    found = published(fixtures(tmp_path, a='{"_id": {"testname": "t", "n": 1}}'))
    assert found.address(page, "results", {"testname": "t", "n": 1}) == f"{way}documents/results/t.n-1.json"
    assert found.address(page, "others", {"testname": "t", "n": 1}) == ""
    assert found.address(page, "results", {"testname": "t", "n": 2}) == ""


def test_what_cannot_be_read_is_not_published(tmp_path: Path) -> None:
    for number, text in enumerate(("not json", '{"x": 1}', '{"_id": {"$oid": "x"}}', '{"_id": "1')):
        folder = fixtures(tmp_path / str(number), a=text)
        assert published(folder).files == {}, text
    assert published(tmp_path / "none").files == {}
    assert (
        PublishedDocuments.of(open_source("mongodb://user:secret@host/results").local, "results").files == {}
    )


def test_documents_that_changed_since_their_tables_were_made_end_the_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugins = "plugins:\n  - mongo-tables:\n      documents: r\n"
    write(
        tmp_path,
        {"mkdocs.yml": f"{CONFIG}{plugins}", "docs/index.md": table("one"), "fixtures/r/r.jsonl": ROWS},
    )
    read, contents = ResultsFile.read, list[bytes]()

    def read_another_content(file: ResultsFile) -> bytes:
        content = read(file)
        contents.append(content.replace(b"3", b"4") if contents else content)
        return contents[-1]

    monkeypatch.setattr(ResultsFile, "read", read_another_content)
    monkeypatch.chdir(tmp_path)
    outcome = built(tmp_path)
    assert not outcome.done
    assert [line.partition(" (")[0] for line in outcome.errors if "MT" in line] == [
        "fixtures: MT310 the files of the collection `r` changed during the build"
    ]


PAGE = """\
<!-- MONGO_TABLE: {"id": "t", "collection": "results", "pipeline": [{"$project": {"speed": {"$first": "$repeats.operations_per_second"}}}],
"columns": ["speed"], "headers": ["Speed"]} -->
"""


def measured_site(folder: Path, option: str) -> Path:
    site = sample(folder)
    lines = "\n".join(json_util.dumps(document(size)) for size in (1, 2))
    fixtures(site / "fixtures", a=f"{lines}\n")
    (site / "docs" / "speeds.md").write_text(PAGE, encoding="utf-8")
    config = site / "mkdocs.yml"
    config.write_text(config.read_text(encoding="utf-8") + option, encoding="utf-8")
    return site


def test_every_run_of_a_built_site_leads_to_its_document_in_each_build(tmp_path: Path) -> None:
    site = measured_site(tmp_path, "      documents: results\n")
    build_twice(site)
    links = LINK.findall((site / "site" / "speeds.html").read_text(encoding="utf-8"))
    assert len(links) == 6
    sizes = [json.loads((site / "site" / link).read_text("utf-8"))["_id"]["docSizeKB"] for link in links]
    assert sizes == [1, 1, 1, 2, 2, 2]


def test_a_row_without_listed_runs_leads_to_its_document(tmp_path: Path) -> None:
    site = measured_site(tmp_path, "      documents: results\n")
    line = {key: value for key, value in document(1).items() if key != "repeats"}
    (site / "fixtures" / "results" / "a.jsonl").write_text(json_util.dumps(line), encoding="utf-8")
    page = PAGE.replace('{"$first": "$repeats.operations_per_second"}', '{"$literal": 5}')
    (site / "docs" / "speeds.md").write_text(page, encoding="utf-8")
    assert build(site, "--strict").returncode == 0
    html = (site / "site" / "speeds.html").read_text(encoding="utf-8")
    (link,) = re.findall('<a class="mongo-table__runs" href="([^"]+)"', html)
    assert json.loads((site / "site" / link).read_text("utf-8"))["_id"]["docSizeKB"] == 1


def test_no_document_is_published_unless_the_site_wants_it(tmp_path: Path) -> None:
    site = measured_site(tmp_path, "")
    assert build(site, "--strict").returncode == 0
    html = (site / "site" / "speeds.html").read_text(encoding="utf-8")
    assert "The single runs behind the rows" in html
    assert not LINK.findall(html)
    assert not (site / "site" / "documents").exists()


def test_all_documents_are_one_file_of_lines_in_the_order_of_the_files(tmp_path: Path) -> None:
    found = published(fixtures(tmp_path, b='{"_id": 3}', a='{"_id": 1}\n\n{"_id": 2, "x": "é"}'))
    assert found.together.decode() == '{"_id": 1}\n{"_id": 2, "x": "é"}\n{"_id": 3}\n'
    assert published(tmp_path / "none").together == b""


LINKED = "\n[All results](documents/results.jsonl)\n"


def with_link(site: Path) -> Path:
    page = site / "docs" / "speeds.md"
    page.write_text(page.read_text("utf-8") + LINKED, encoding="utf-8")
    return site


def test_a_page_links_to_all_documents_as_one_file_the_same_in_each_build(tmp_path: Path) -> None:
    site = with_link(measured_site(tmp_path, "      documents: results\n"))
    build_twice(site)
    assert '<a href="documents/results.jsonl">' in (site / "site" / "speeds.html").read_text("utf-8")
    lines = (site / "site" / "documents" / "results.jsonl").read_bytes()
    assert lines == (site / "fixtures" / "results" / "a.jsonl").read_bytes()


def test_documents_of_several_collections_are_published(tmp_path: Path) -> None:
    site = measured_site(tmp_path, "      documents: [results, more]\n")
    (site / "fixtures" / "more").mkdir()
    lines = (site / "fixtures" / "results" / "a.jsonl").read_text("utf-8")
    (site / "fixtures" / "more" / "b.jsonl").write_text(lines, encoding="utf-8")
    page = site / "docs" / "speeds.md"
    page.write_text(PAGE + PAGE.replace('"t"', '"u"').replace('"results"', '"more"'), encoding="utf-8")
    assert build(site, "--strict").returncode == 0
    links = LINK.findall((site / "site" / "speeds.html").read_text(encoding="utf-8"))
    assert [link.split("/")[1] for link in links] == 6 * ["results"] + 6 * ["more"]
    assert all((site / "site" / link).is_file() for link in links)
    assert (site / "site" / "documents" / "more.jsonl").read_text("utf-8") == lines


def test_where_no_documents_can_be_had_there_is_no_empty_file(tmp_path: Path) -> None:
    site = with_link(measured_site(tmp_path, "      documents: nothing\n"))
    page = site / "docs" / "speeds.md"
    page.write_text(page.read_text("utf-8").replace("results.jsonl", "nothing.jsonl"), encoding="utf-8")
    assert "documents/nothing.jsonl is not published" in build(site).stderr
    assert not (site / "site" / "documents").exists()


def test_documents_that_are_not_there_are_warned_of(tmp_path: Path) -> None:
    site = measured_site(tmp_path, "      documents: result\n")
    assert "no lines with documents of the collection result" in build(site).stderr


def test_documents_that_queries_read_are_decoded_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = measured_site(tmp_path, "      documents: results\n")
    decoded: list[str] = []

    def decode(contents: file_documents.Contents) -> file_documents.Collection:
        decoded.append(contents.name)
        return file_documents.decode(contents)

    monkeypatch.setattr(file_source, "_MOST_HELD", 0)
    monkeypatch.setattr(file_source, "decode", decode)
    assert built(site).done
    assert decoded.count("results") == 1
