"""`measured_of`: figures that were measured on another version than the one at hand."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from mongo_tables.cli import main
from tests.hosts.inprocess import CONFIG, built

FILES = {
    "pyproject.toml": '[project]\nname = "x"\nversion = "%s"\n',
    "Cargo.toml": '[package]\nname = "x"\nversion = "%s"\n',
    "package.json": '{"name": "x", "version": "%s"}\n',
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def lay_out(measured_of: object, *versions: str | None, page: str = "page.md", **keys: object) -> None:
    rows = [{"_id": n, "ms": n, **({"version": one} if one else {})} for n, one in enumerate(versions)]
    Path("m.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in rows))
    body = {"collection": "m", "columns": ["_id", "ms"], "sort": "_id", "measured_of": measured_of, **keys}
    Path(page).parent.mkdir(parents=True, exist_ok=True)
    Path(page).write_text(f"<!-- RESULT_TABLE: {json.dumps(body)} -->\n")


def told(capsys: pytest.CaptureFixture[str], page: str = "page.md") -> list[str]:
    capsys.readouterr()
    main(["check", page, "--results", "m.jsonl", "--format", "json"])
    found = json.loads(capsys.readouterr().out)["findings"]
    return [f"{one['rule']} {one['message']} | {one['hint']}" for one in found]


@pytest.mark.parametrize("file", FILES)
def test_a_figure_of_another_version_is_reported(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    lay_out(file, "1.4.2", "1.4.10")
    Path(file).write_text(FILES[file] % "2.0.0")
    assert told(capsys) == [
        f"MT339 the newest result is of version 1.4.10, and {file} has 2.0.0 "
        '| measure again, or accept equal "minor" or "major" versions: "within": "minor"'
    ]
    Path(file).write_text(FILES[file] % "1.4.2")
    assert told(capsys) == []


@pytest.mark.parametrize(
    ("within", "measured", "at_hand", "alike"),
    [
        (None, "1.4.2", "v1.4.2", True),
        (None, "1.4", "1.4.0", True),
        (None, "1.4.2", "1.4.3", False),
        (None, "1.4.2", "1.4.2rc1", False),
        (None, "1.4.2", "1.4.2+local", True),
        ("minor", "1.4.2", "1.4.9", True),
        ("minor", "1.4.2", "1.5.0", False),
        ("major", "1.4.2", "1.9.0.dev1", True),
        ("major", "1", "2", False),
    ],
)
def test_versions_are_compared_as_far_as_they_count(
    within: str | None, measured: str, at_hand: str, alike: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("package.json").write_text(FILES["package.json"] % at_hand)
    lay_out({"file": "package.json", **({"within": within} if within else {})}, measured)
    assert (told(capsys) == []) is alike


def test_the_file_is_sought_above_the_page_up_to_its_repository(capsys: pytest.CaptureFixture[str]) -> None:
    lay_out("pyproject.toml", "1.0", page="packages/a/docs/page.md")
    Path("pyproject.toml").write_text(FILES["pyproject.toml"] % "9.0")
    Path("packages/a/pyproject.toml").write_text(FILES["pyproject.toml"] % "1.0")
    page = "packages/a/docs/page.md"
    assert told(capsys, page) == []
    Path("packages/a/pyproject.toml").unlink()
    assert "pyproject.toml has 9.0" in told(capsys, page)[0]
    Path("packages/.git").mkdir()
    assert "there is no pyproject.toml in the folder of the page or above it" in told(capsys, page)[0]


def test_the_field_of_documents_has_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    Path("package.json").write_text(FILES["package.json"] % "1.0.0")
    lay_out("package.json", None)
    assert told(capsys) == [
        "MT339 no document behind the figure has a version in the field `version` "
        '| name the field with the version: "measured_of": {"file": "package.json", "field": "…"}'
    ]
    Path("m.jsonl").write_text('{"_id": 1, "ms": 2, "build": {"of": "1.0.0"}}\n')
    body = (
        Path("page.md").read_text().replace('"package.json"', '{"file": "package.json", "field": "build.of"}')
    )
    Path("page.md").write_text(body)
    assert told(capsys) == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[project]\n", "pyproject.toml has no `project.version`"),
        ("[project", "pyproject.toml cannot be read: "),
    ],
)
def test_a_file_without_a_version_is_reported(
    text: str, fault: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lay_out("pyproject.toml", "1.0")
    Path("pyproject.toml").write_text(text)
    assert told(capsys)[0].startswith(f"MT339 the current version is not known: {fault}")


def test_a_tag_is_a_version(capsys: pytest.CaptureFixture[str]) -> None:
    lay_out("tag", "1.2.0")
    assert "the page is in no Git repository with a tag" in told(capsys)[0]
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for asked in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*git, *asked], check=True)
    assert "the page is in no Git repository with a tag" in told(capsys)[0]
    subprocess.run([*git, "tag", "pkg@1.2.0"], check=True)
    assert told(capsys) == []
    subprocess.run([*git, "commit", "-qm", "more", "--allow-empty"], check=True)
    subprocess.run([*git, "tag", "v2.0.0"], check=True)
    assert "the newest result is of version 1.2.0, and the last tag is v2.0.0" in told(capsys)[0]


def test_a_tag_cannot_be_read_without_git(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lay_out("tag", "1.2.0")
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    assert "the current version is not known: git is not installed" in told(capsys)[0]


def test_a_git_that_cannot_be_run_is_reported_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lay_out("tag", "1.2.0")
    (tmp_path / "programs").mkdir()
    git = tmp_path / "programs" / "git"
    git.write_bytes(b"not a program")
    git.chmod(0o755)
    monkeypatch.setenv("PATH", str(git.parent))
    assert "the current version is not known: git cannot be run: Exec format error" in told(capsys)[0]


def test_only_the_documents_of_the_figure_count(capsys: pytest.CaptureFixture[str]) -> None:
    Path("package.json").write_text(FILES["package.json"] % "2.0.0")
    lay_out("package.json", "1.0.0", "2.0.0", where={"_id": 0})
    assert "of version 1.0.0" in told(capsys)[0]


def test_the_file_of_the_version_is_one_that_the_page_depends_on(capsys: pytest.CaptureFixture[str]) -> None:
    Path("package.json").write_text(FILES["package.json"] % "1.0.0")
    lay_out("package.json", "1.0.0")
    assert main(["deps", "page.md", "--results", "m.jsonl"]) == 0
    assert capsys.readouterr().out.split() == ["page.md", "m.jsonl", "package.json"]


@pytest.mark.parametrize("host", ["plugins", "markdown_extensions"])
def test_a_build_of_the_site_warns(host: str, recwarn: pytest.WarningsRecorder) -> None:
    lay_out("package.json", "1.0.0", page="docs/page.md")
    Path("package.json").write_text(FILES["package.json"] % "2.0.0")
    Path("mkdocs.yml").write_text(f"{CONFIG}{host}:\n  - mongo-tables:\n      results: m.jsonl\n")
    outcome = built(Path())
    assert outcome.done
    told = [*outcome.warnings, *(str(one.message) for one in recwarn)]
    assert any(
        "MT339 the newest result is of version 1.0.0, and package.json has 2.0.0" in one for one in told
    )
