"""Pages that a build leaves out, and pages of sites within a site: `check` says what the build says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mongo_tables.cli import main
from tests.hosts.builds import build
from tests.hosts.inprocess import CONFIG, ROWS, built, table, write
from tests.hosts.plugins.smallsite import value

SPEAKS = f"# Home\n\nThere are {value('one', 'x')}.\n"
BASE = {"fixtures/r/r.jsonl": ROWS, "docs/index.md": SPEAKS}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write(tmp_path, BASE)


def checked(capsys: pytest.CaptureFixture[str], *paths: str) -> list[str]:
    """File and rule of each finding that is more than a note."""
    main(["check", "--format", "json", *paths])
    found = json.loads(capsys.readouterr().out)["findings"]
    return [f"{each['file']} {each['rule']}" for each in found if each["severity"] != "note"]


def settings(more: str = "", plugins: str = "[mongo-tables]") -> dict[str, str]:
    return {"mkdocs.yml": f"{CONFIG}plugins: {plugins}\n{more}"}


@pytest.mark.parametrize(
    ("page", "more"),
    [
        ("parts/one.md", "exclude_docs: parts/\n"),
        ("parts/deep/one.md", "exclude_docs: parts/\n"),
        ("parts/one.md", "exclude_docs: |\n  # parts\n  *.md\n  !index.md\n"),
        ("one.md", "draft_docs: one.md\n"),
        ("one.md", "draft_docs: |\n  nothing.md\n  *e.md\nexclude_docs: ''\n"),
        (".parts/one.md", ""),
        ("templates/one.md", ""),
        ("README.md", ""),
    ],
)
def test_a_value_of_a_page_that_the_build_leaves_out_is_a_fault_for_check_as_well(
    page: str, more: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder, {**settings(more), f"docs/{page}": table("one")})
    outcome = built(folder)
    assert not outcome.done
    faults = [line.split()[:2] for line in outcome.errors[:-1]]
    assert faults == [["docs/index.md:3:39:", "MT139"]], outcome.log
    for paths in ((), ("docs",), ("docs/index.md",)):
        assert checked(capsys, *paths) == ["docs/index.md MT139"]


@pytest.mark.parametrize(
    ("page", "more"),
    [
        ("parts/one.md", "not_in_nav: parts/\n"),
        ("parts/one.md", "exclude_docs: /one.md\n"),
        ("deep/templates/one.md", ""),
        (".parts/one.md", "exclude_docs: '!.parts/'\n"),
        ("templates/one.md", "exclude_docs: |\n  *.txt\n  !/templates/\n"),
        ("parts/README.md", ""),
    ],
)
def test_a_value_of_a_page_that_the_build_has_is_none(
    page: str, more: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder, {**settings(more), f"docs/{page}": table("one")})
    outcome = built(folder)
    assert outcome.done, outcome.log
    for paths in ((), ("docs",), ("docs/index.md",)):
        assert checked(capsys, *paths) == []


ALONE = "markdown_extensions: [mongo-tables]\n"


BUILT_OR_NOT = [
    ("parts/one.md", "", True),
    ("parts/one.md", "exclude_docs: parts/\n", False),
    ("one.md", "draft_docs: one.md\n", False),
    ("templates/one.md", "", False),
]


@pytest.mark.parametrize(
    ("program", "page", "more", "there"),
    [
        *(("mkdocs", *one) for one in BUILT_OR_NOT),
        *(("zensical", *one) for one in BUILT_OR_NOT[:2]),
        *(pytest.param("zensical", *one, marks=pytest.mark.thorough) for one in BUILT_OR_NOT[2:]),
    ],
)
def test_the_extension_alone_knows_which_pages_a_build_leaves_out(
    program: str, page: str, more: str, there: bool, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    head = "site_name: Small\ntheme:\n  name: material\n  font: false\n"
    write(folder, {"mkdocs.yml": head + more + ALONE, f"docs/{page}": table("one")})
    done = build(folder, program=program)
    assert ("MT139" not in done.stdout + done.stderr) is there, done.stdout + done.stderr
    assert (done.returncode == 0) is there
    assert checked(capsys) == ([] if there else ["docs/index.md MT139"])


def test_patterns_of_a_file_that_is_inherited_count(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {
        **settings("INHERIT: base.yml\n"),
        "base.yml": "draft_docs: one.md\n",
        "docs/one.md": table("one"),
    }
    write(folder, files)
    assert "MT139" in "".join(built(folder).errors)
    assert checked(capsys) == ["docs/index.md MT139"]


def test_a_page_that_is_left_out_is_checked_all_the_same_and_knows_all_tables(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    draft = f"{table('draft')}\n{value('one', 'x')} and {value('draft', 'x')} and {value('other', 'x')}\n"
    write(
        folder,
        {
            **settings("draft_docs: drafts/\n"),
            "docs/one.md": table("one"),
            "docs/drafts/draft.md": draft,
            "docs/drafts/other.md": table("other"),
        },
    )
    for paths in ((), ("docs/drafts/draft.md",)):
        assert checked(capsys, *paths) == []
    write(folder, {"docs/drafts/draft.md": draft.replace('"n"', '"m"', 2)})
    for paths in ((), ("docs/drafts/draft.md",)):
        assert {each.split()[0] for each in checked(capsys, *paths)} == {"docs/drafts/draft.md"}


def test_a_draft_may_have_the_ids_of_the_page_that_it_is_to_replace(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = table("one", pipeline='[{"$sort": {"_id": -1}}, {"$limit": 1}]')
    write(folder, {**settings("draft_docs: a.md\n"), "docs/a.md": other, "docs/one.md": table("one")})
    assert built(folder).done
    assert [each for each in checked(capsys) if not each.startswith("docs/a.md")] == []
    write(folder, settings())
    assert "MT138" in "".join(built(folder).errors)
    assert any("MT138" in each for each in checked(capsys))


def test_a_page_that_is_left_out_and_comes_into_another_is_a_part_of_that(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = f'--8<-- "docs/parts/one.md"\n\n{SPEAKS}'
    more = "exclude_docs: parts/\nmarkdown_extensions: [pymdownx.snippets]\n"
    write(folder, {**settings(more), "docs/index.md": page, "docs/parts/one.md": table("one")})
    assert built(folder).done
    for paths in ((), ("docs/index.md",)):
        assert checked(capsys, *paths) == []


def test_a_pattern_that_is_none_is_told_with_the_file_that_has_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder, settings("exclude_docs: '!'\n"))
    assert main(["check"]) == 2
    assert "mkdocs.yml: `exclude_docs`" in capsys.readouterr().err
    write(folder, settings("exclude_docs: [a.md]\n"))
    assert main(["check"]) == 2
    assert "mkdocs.yml: `exclude_docs` is not a string" in capsys.readouterr().err


def test_a_value_that_is_rendered_alone_comes_from_pages_of_the_site(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder, {**settings("draft_docs: one.md\n"), "docs/one.md": table("one")})
    assert main(["render", "docs/index.md"]) == 1
    assert "MT139" in capsys.readouterr().err
    write(folder, settings())
    assert main(["render", "docs/index.md"]) == 0


INNER = "site_name: {name}\nnav:\n  - Start: start.md\n"
MONOREPO = "[monorepo, mongo-tables]"


@pytest.mark.parametrize(
    ("nav", "where", "inner"),
    [
        ("  - Inner: '!include ./inner/mkdocs.yml'\n", "inner", INNER.format(name="inner")),
        ("  - Inner: '!include inner/mkdocs.yml'\n", "inner", INNER.format(name="The Inner One")),
        ("  - More:\n      - Inner: '!include ./inner/mkdocs.yml'\n", "inner", INNER.format(name="a/b")),
        ("  - All: '*include ./parts/*/mkdocs.yml'\n", "parts/a", INNER.format(name="inner")),
        ("  - Inner: '!include ./inner/mkdocs.yml'\n", "inner", "site_name: inner\n"),
        (
            "  - Inner: '!include ./inner/mkdocs.yml'\n",
            "inner",
            "INHERIT: ../base.yml\n" + INNER.format(name="i"),
        ),
    ],
)
def test_a_site_within_a_site_and_the_outer_one_know_the_tables_of_each_other(
    nav: str, where: str, inner: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    start = f"# Start\n\n{table('one')}\nOutside {value('two', 'x')}.\n"
    write(
        folder,
        {
            **settings(f"nav:\n  - Home: index.md\n{nav}", MONOREPO),
            "base.yml": "theme: {name: mkdocs}\n",
            f"{where}/mkdocs.yml": inner,
            f"{where}/docs/start.md": start,
            "docs/index.md": f"{SPEAKS}\n{table('two')}",
        },
    )
    done = build(folder)
    assert done.returncode == 0, done.stderr
    for paths in ((), ("docs/index.md",), (f"{where}/docs/start.md",)):
        assert checked(capsys, *paths) == []


def test_a_fault_in_a_site_within_a_site_is_told_by_both(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {
        **settings("nav:\n  - Home: index.md\n  - Inner: '!include ./inner/mkdocs.yml'\n", MONOREPO),
        "inner/mkdocs.yml": INNER.format(name="inner"),
        "inner/docs/start.md": f"# Start\n\n{table('one')}\n{value('none', 'x')}",
    }
    write(folder, files)
    done = build(folder)
    assert done.returncode == 1 and done.stderr.count("MT139") == 1
    assert checked(capsys) == ["inner/docs/start.md MT139"]
