"""Settings that are kept are those that the text of the file has; what it does not decide alone is read each time."""

from __future__ import annotations

from pathlib import Path

import pytest

from mongo_tables.findings.usage import UsageError
from mongo_tables.pages import settingsfiles
from mongo_tables.pages.settingsfiles import yaml_settings

TEXTS = [
    "site_name: One\nplugins:\n  - search\n  - mongo-tables: {results: fixtures}\n",
    "site_name: ''\nstrict: true\nratio: 1.0\nnumber: 1\nnothing:\n",
    "emoji: !!python/name:material.extensions.emoji.twemoji\n",
    "base: &base {a: 1}\nother: *base\n",
    "name: Größe 😀\n",
    "",
]
NOT_IN_JSON = ["day: 2026-01-01\n", "1: one\n", "kinds: !!set {a, b}\n", "ratio: .nan\n"]


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that are parsed."""
    texts: list[str] = []
    load = settingsfiles._load

    def load_seen(file: Path, text: str) -> object:
        texts.append(text)
        return load(file, text)

    monkeypatch.setattr(settingsfiles, "_load", load_seen)
    return texts


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_is_parsed_once(text: str, tmp_path: Path, parsed: list[str]) -> None:
    file = tmp_path / "mkdocs.yml"
    file.write_text(text)
    first = yaml_settings(file)
    assert repr(yaml_settings(file)) == repr(first)
    assert parsed == [text]
    file.write_text(f"{text}more: 1\n")
    assert yaml_settings(file) == {**first, "more": 1}


@pytest.mark.parametrize("text", NOT_IN_JSON)
def test_what_json_does_not_have_is_parsed_each_time(text: str, tmp_path: Path, parsed: list[str]) -> None:
    file = tmp_path / "mkdocs.yml"
    file.write_text(text)
    assert repr(yaml_settings(file)) == repr(yaml_settings(file))
    assert parsed == [text, text]


@pytest.mark.parametrize(
    "text",
    [
        "results: !ENV [WHERE, fixtures]\n",
        "results: !%45NV WHERE\n",
        "%TAG !e! !E\n---\nresults: !e!NV WHERE\n",
    ],
)
def test_what_the_environment_says_is_looked_at_each_time(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "mkdocs.yml"
    file.write_text(text)
    for where in ("one", "two"):
        monkeypatch.setenv("WHERE", where)
        assert yaml_settings(file) == {"results": where}


def test_a_fault_is_told_each_time(tmp_path: Path) -> None:
    file = tmp_path / "mkdocs.yml"
    file.write_text("a: [\n")
    for _ in range(2):
        with pytest.raises(UsageError, match=r"mkdocs\.yml:2:1: not YAML"):
            yaml_settings(file)


@pytest.mark.parametrize("payload", [b"no JSON", b"[1]", b"\xff"])
def test_other_bytes_in_the_place_of_what_is_kept_are_not_believed(
    payload: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "mkdocs.yml"
    file.write_text(TEXTS[0])
    expected = yaml_settings(file)
    monkeypatch.setattr("mongo_tables.results.bsoncache.get", lambda folder, key: payload)
    assert yaml_settings(file) == expected
