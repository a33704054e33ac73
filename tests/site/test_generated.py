"""Pages that templates, included files and generated pages add to: what is checked before the build, and what is left."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mongo_tables.cli import main

ROWS = '{"_id": 1, "a": "x", "n": 3}\n{"_id": 2, "a": "y", "n": 5}\n'
VALUE = '<!-- MONGO_VALUE: {"table": "one", "column": "n", "where": {"a": "x"}} -->'
WRONG = VALUE.replace('"n"', '"m"')
GENERATED = VALUE.replace("}} -->", '}, "generated": true} -->')


def table(name: str = "one", **keys: object) -> str:
    asked = {"pipeline": [{"$sort": {"_id": 1}}], "columns": ["a", "n"], "headers": ["A", "N"]}
    return f"<!-- MONGO_TABLE: {json.dumps({'id': name, 'collection': 'r', **asked, **keys})} -->\n"


@pytest.fixture(autouse=True)
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write("mkdocs.yml", "site_name: Site\n")
    write("fixtures/r/r.jsonl", ROWS)


def write(name: str, text: str) -> None:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(text, encoding="utf-8")


def checked(capsys: pytest.CaptureFixture[str], *paths: str) -> tuple[int, list[list[str]]]:
    """The exit status, and file, severity and rule of each finding."""
    status = main(["check", "--format", "json", *paths])
    findings = json.loads(capsys.readouterr().out)["findings"]
    return status, [[each["file"], each["severity"], each["rule"]] for each in findings]


NOTE = ["docs/index.md", "note", "MT175"]


@pytest.mark.parametrize(
    "comment",
    [
        table("t-{{ key }}"),
        table(columns=["a", "{{ column }}"]),
        table(collection="{{ collection }}"),
        table(pipeline=[{"$match": {"a": "{{ kind }}"}}]),
        table().replace("[{", "[{% for each in stages %}{{ each }},{% endfor %}{"),
    ],
)
def test_a_comment_that_a_template_writes_into_is_left_to_the_build(
    comment: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write("docs/index.md", comment)
    assert checked(capsys) == (0, [NOTE])


def test_a_sound_comment_with_a_template_in_it_is_checked_without_a_note(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write("docs/index.md", table(title="{{ word }}"))
    assert checked(capsys) == (0, [])


def test_a_document_with_the_field_generated_is_no_generated_comment(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write("docs/index.md", table(pipeline=[{"$match": {"generated": True}}, {"$mtch": {}}]))
    assert checked(capsys) == (1, [["docs/index.md", "error", "MT301"]])


@pytest.mark.parametrize("extra", [{"generated": True}, {"title": "{{ word }}"}])
def test_a_generated_comment_that_writes_is_refused_before_the_build(
    extra: dict[str, object], capsys: pytest.CaptureFixture[str]
) -> None:
    write("docs/index.md", table(pipeline=[{"$out": "r"}], **extra))
    assert checked(capsys) == (1, [["docs/index.md", "error", "MT201"]])


def test_what_names_a_table_with_a_template_in_its_id_is_left_to_the_build(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write("docs/index.md", table("{{ key }}-t") + "\n" + VALUE.replace("one", "one-t"))
    assert checked(capsys) == (0, [NOTE, NOTE])


def test_a_fault_of_a_comment_without_a_template_stays_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    write("docs/index.md", table("t-{{ key }}") + "\n" + table("two", pipeline=[{"$mtch": {}}]))
    assert checked(capsys) == (1, [NOTE, ["docs/index.md", "error", "MT301"]])


def test_a_template_in_code_explains_no_missing_table(capsys: pytest.CaptureFixture[str]) -> None:
    write(
        "docs/index.md",
        f'`{{{{ x }}}}` and ${{{{ y }}}}\n\n```\n{{% z %}}\n--8<-- "a.md"\n```\n\n`{{% include "b.md" %}}` {VALUE}\n',
    )
    assert checked(capsys) == (1, [["docs/index.md", "error", "MT139"]])


@pytest.mark.parametrize(
    "line", ["{{ tables() }}", '{% include "made.md" %}', '--8<-- "made.md"', "--8<--\nmade.md\n--8<--"]
)
def test_a_table_that_may_come_in_from_elsewhere_is_left_to_the_build(
    line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write("docs/index.md", f"{line}\n\nIt is {VALUE}.\n")
    assert checked(capsys) == (0, [NOTE])


@pytest.mark.parametrize(
    "line",
    [
        '{% include-markdown "../parts/part.md" %}',
        '{%\n  include-markdown "../parts/*.md"\n  heading-offset=1\n%}',
        '{% include "parts/part.md" %}',
        '--8<-- "parts/part.md"',
        '--8<-- "parts/part.md:1:3"',
        "--8<--\nparts/part.md\n--8<--",
    ],
)
def test_a_value_of_an_included_table_is_held_to_it(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    write("parts/part.md", table())
    write("docs/index.md", f"{line}\n\nIt is {VALUE}.\n")
    assert checked(capsys) == (0, [])
    write("docs/index.md", f"{line}\n\nIt is {WRONG}.\n")
    status, findings = checked(capsys)
    assert status == 1 and findings[0][:2] == ["docs/index.md", "error"]


def test_a_fault_in_an_included_file_is_told_in_that_file(capsys: pytest.CaptureFixture[str]) -> None:
    write("parts/part.md", table(pipeline=[{"$mtch": {}}]))
    write("parts/outer.md", '--8<-- "part.md"\n')
    write("docs/index.md", '--8<-- "parts/outer.md"\n')
    assert checked(capsys) == (1, [["parts/part.md", "error", "MT301"]])


def test_a_value_of_a_generated_page_is_left_to_the_build_where_it_says_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write("docs/index.md", f"It is {VALUE}.\n")
    assert checked(capsys) == (1, [["docs/index.md", "error", "MT139"]])
    write("docs/index.md", f"It is {GENERATED}.\n")
    assert checked(capsys) == (0, [NOTE])


def test_one_table_on_two_pages_is_no_duplicate_and_two_tables_with_one_id_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write("docs/index.md", table())
    write("docs/other.md", table())
    assert checked(capsys) == (0, [])
    write("docs/other.md", table(headers=["B", "N"]))
    assert checked(capsys) == (1, [["docs/other.md", "error", "MT138"]])
    write("docs/other.md", "")
    write("docs/index.md", table() + "\n" + table())
    assert checked(capsys) == (1, [["docs/index.md", "error", "MT138"]])


@pytest.mark.parametrize(
    ("one", "other"), [("index.md", "index.de.md"), ("en/guide/index.md", "de/guide/index.md")]
)
def test_a_page_in_another_language_may_have_the_ids_of_its_original(
    one: str, other: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write(f"docs/{one}", table())
    write(f"docs/{other}", table(headers=["B", "N"]))
    status, findings = checked(capsys)
    assert status == 0 and [each[1:] for each in findings] == [["note", "MT175"]]
    write("docs/third.md", table(headers=["C", "N"]))
    assert checked(capsys)[0] == 1


@pytest.mark.parametrize(
    "other", ['--8<-- "parts/part.md"', table("{{ key }}"), "{{ tables() }}", '--8<-- "made.md"']
)
def test_a_page_that_is_checked_alone_knows_what_comes_into_others(
    other: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write("parts/part.md", table())
    write("docs/index.md", f"It is {VALUE}.\n")
    write("docs/other.md", other)
    assert checked(capsys, "docs/index.md")[0] == 0
    write("docs/other.md", "Nothing.\n")
    assert checked(capsys, "docs/index.md") == (1, [["docs/index.md", "error", "MT139"]])


@pytest.mark.parametrize(
    ("file", "settings"),
    [
        ("mkdocs.yml", "markdown_extensions:\n  - pymdownx.snippets: {base_path: [parts/inc]}\n"),
        ("mkdocs.yml", "markdown_extensions:\n  pymdownx.snippets:\n    base_path: parts/inc\n"),
        ("zensical.toml", "[project.markdown_extensions.pymdownx.snippets]\nbase_path = ['parts/inc']\n"),
        ("zensical.toml", "[project.markdown_extensions.'pymdownx.snippets']\nbase_path = 'parts/inc'\n"),
    ],
)
def test_a_file_from_a_folder_that_the_site_names_for_snippets_is_checked(
    file: str, settings: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("mkdocs.yml").unlink()
    write(file, settings)
    write("docs/index.md", '# Page\n\n--8<-- "part.md"\n')
    write("parts/inc/part.md", table(pipeline=[{"$mtch": {}}]))
    assert checked(capsys) == (1, [["parts/inc/part.md", "error", "MT301"]])


@pytest.mark.parametrize(
    "page",
    [
        '--8<-- "parts/part.md:1:2"\n\n--8<-- "parts/part.md:3:5"\n',
        '--8<-- "parts/part.md"\n\n```\n--8<-- "parts/part.md"\n```\n',
        '--8<-- "parts/part.md"\n\n<!--\n--8<-- "parts/part.md"\n-->\n',
        '--8<-- "parts/part.md"\n\n;--8<-- "parts/part.md"\n',
        '{% include-markdown "../parts/part.md" start="a" %}\n\n{% include-markdown "../parts/part.md" end="a" %}\n',
        '{% if a %}\n{% include "parts/part.md" %}\n{% else %}\n{% include "parts/part.md" %}\n{% endif %}\n',
    ],
)
def test_a_table_that_may_be_on_a_page_once_is_left_to_the_build(
    page: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write("parts/part.md", table())
    write("docs/index.md", page)
    write("docs/other.md", '--8<-- "parts/part.md"\n')
    assert checked(capsys) == (0, [])


def test_files_that_take_in_each_other_are_checked_in_no_time(capsys: pytest.CaptureFixture[str]) -> None:
    count = 40
    for number in range(count):
        write(f"parts/{number}.md", f'--8<-- "{(number + 1) % count}.md"\n' * 2)
    write("docs/index.md", '--8<-- "parts/0.md"\n' + table())
    assert checked(capsys) == (0, [])
