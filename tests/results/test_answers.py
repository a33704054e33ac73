"""What a results source said is kept as long as it holds."""

from __future__ import annotations

import json
import weakref
from pathlib import Path

import pytest

from mongo_tables.results import answers, file_documents, file_source
from mongo_tables.results.answers import Answers
from mongo_tables.results.model import FilesChanged, Query, ResultsError, Rows


class _Server:
    """A source that is another server each time that it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def refresh(self) -> None:
        pass

    def version(self) -> str:
        self.asked += 1
        return f"{self.asked}.0"


def test_the_version_of_a_server_is_asked_once_between_two_refreshes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "open_source", lambda where, limits: _Server())
    kept = Answers("mongodb://localhost")
    assert [kept.version, kept.version] == ["1.0", "1.0"]
    kept.refresh()
    assert kept.version == "2.0"


def test_a_collection_whose_folder_comes_back_is_read_again(tmp_path: Path) -> None:
    here, away = tmp_path / "fixtures", tmp_path / "away"
    for name in ("runs", "others"):
        (here / name).mkdir(parents=True)
        (here / name / "a.jsonl").write_text('{"_id": 1}\n')
    kept, query = Answers(str(here)), Query("runs", ())

    def ask() -> Rows | ResultsError:
        kept.refresh()
        kept.answer({query.key: query})
        return kept.by_key[query.key]

    assert ask() == [{"_id": 1}]
    (here / "runs").rename(away)
    assert ask() == []
    away.rename(here / "runs")
    assert ask() == [{"_id": 1}]
    kept.close()


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """The collections that were decoded, in order, of the four that a folder has."""
    for name in "abcd":
        (tmp_path / name).mkdir()
        (tmp_path / name / "all.jsonl").write_text('{"_id": 1}\n{"_id": 2}\n')
    found: list[str] = []

    def decode(contents: file_documents.Contents) -> file_documents.Collection:
        found.append(contents.name)
        return file_documents.decode(contents)

    monkeypatch.setattr(file_source, "decode", decode)
    return found


def test_a_build_holds_documents_only_while_it_looks_at_them_and_tells_of_files_that_change(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, decoded: list[str]
) -> None:
    monkeypatch.setattr(file_source, "_MOST_HELD", 3)
    build = Answers(str(tmp_path), once=True)
    queries = [Query(name, ({"$match": {"_id": n}},)) for n in (1, 2) for name in ("a", "b")]
    build.answer({query.key: query for query in queries})
    assert (decoded, build.ran) == ([], 0), "a query runs when its rows are needed"
    for some, names in build.apart((one, one) for one in queries):
        assert [build.by_key[one.key] for one in some] == [[{"_id": 1}], [{"_id": 2}]]
        build.let_go(names)
    assert (decoded, build.ran) == (["a", "b"], 4), "queries about one collection run together"
    assert len(build.by_key) == len(list(build.by_key)) == 4
    local = build.local
    assert local is not None and len(local.documents("b")) == len(local.documents("a")) == 2
    assert decoded == ["a", "b", "b"], "few documents stay"
    (tmp_path / "b" / "all.jsonl").write_text('{"_id": 3}\n')
    build.let_go(["b"])
    with pytest.raises(ResultsError, match="changed during the build"):
        local.documents("b")
    build.close()


def test_queries_that_join_collections_run_together_and_decode_each_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, decoded: list[str]
) -> None:
    monkeypatch.setattr(file_source, "_MOST_HELD", 0)
    build = Answers(str(tmp_path), once=True)
    joins = {"a": "b", "b": "c", "c": "a", "d": "d"}
    queries = [
        Query(name, ({"$lookup": {"from": other, "localField": "_id", "foreignField": "_id", "as": "j"}},))
        for name, other in joins.items()
    ]
    build.answer({query.key: query for query in queries})
    assert all(isinstance(rows, list) for rows in build.by_key.values())
    assert sorted(decoded) == ["a", "b", "c", "d"]
    assert [names for names, _ in build.apart((one, one.collection) for one in queries)] == [
        ["a", "b", "c"],
        ["d"],
    ]
    build.close()
    later = Answers(str(tmp_path))
    assert later.apart((one, one.collection) for one in queries) == [(["a", "b", "c", "d"], ())]
    later.close()


def test_a_row_that_looks_like_a_reference_to_a_database_stays_a_row(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    link = {"$ref": "runs", "$id": 7, "n": 5}
    (tmp_path / "a" / "all.jsonl").write_text(json.dumps({"_id": 1, "link": link}))
    query = Query("a", ({"$replaceRoot": {"newRoot": "$link"}},))
    assert Answers(str(tmp_path)).answer({query.key: query}).by_key[query.key] == [link]


@pytest.mark.parametrize("once", [True, False])
def test_documents_that_are_read_again_in_a_build_are_those_that_were_read_first(
    once: bool, tmp_path: Path, decoded: list[str]
) -> None:
    build, query = Answers(str(tmp_path), once=once), Query("a", ())
    assert len(build.answer({query.key: query}).by_key[query.key]) == 2  # type: ignore[arg-type]
    local = build.local
    assert local is not None and len(list(local.lines("a"))) == 2
    (tmp_path / "a" / "all.jsonl").write_text('{"_id": 3}\n')
    with pytest.raises(FilesChanged, match="changed during the build"):
        local.lines("a")
    build.release()
    with pytest.raises(FilesChanged, match="changed during the build"):
        local.documents("a")
    (tmp_path / "a" / "all.jsonl").unlink()
    with pytest.raises(FilesChanged, match="changed during the build"):
        local.lines("a")
    (tmp_path / "a" / "all.jsonl").write_text('{"_id": 3}\n')
    build.refresh()
    assert local.documents("a") == [{"_id": 3}]
    assert list(local.lines("a")) == [b'{"_id": 3}\n']
    build.close()


@pytest.mark.parametrize("once", [True, False])
def test_of_several_broken_files_the_one_of_the_first_query_makes_the_source_unusable(
    once: bool, tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    for name in "bd":
        (tmp_path / f"{name}.csv").write_text("x,y\n1\n")
    joined = ({"$unionWith": "d"},)
    asked = [Query("a", ()), Query("b", ()), Query("a", joined)]
    build = Answers(str(tmp_path), once=once).answer({one.key: one for one in asked})
    assert len(list(build.by_key.values())) == 3
    assert "b.csv" in str(build.unreachable)


def test_a_fault_is_found_with_those_of_all_files_but_not_of_files_that_the_build_has_used(
    tmp_path: Path,
) -> None:
    for name, content in (("a", '{"_id": 1}'), ("b", "broken"), ("c", "not sound")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "all.jsonl").write_text(content)
    build, asked = Answers(str(tmp_path)), [Query("a", ()), Query("b", ())]
    build.answer({asked[0].key: asked[0]})
    (tmp_path / "a" / "all.jsonl").write_text("changed")
    build.answer({asked[1].key: asked[1]})
    error = build.by_key[asked[1].key]
    assert isinstance(error, ResultsError)
    assert {Path(one.file).parent.name for one in error.findings} == {"b", "c"}


def test_notes_are_about_what_the_queries_read_and_not_beside_the_error_of_a_broken_source(
    tmp_path: Path,
) -> None:
    fixtures, plain = tmp_path / "fixtures", tmp_path / "plain"
    for name, content in (("a", '{"_id": 1}'), ("b", "broken")):
        (fixtures / name).mkdir(parents=True)
        (fixtures / name / "all.jsonl").write_text(content)
    (fixtures / "more.xlsx").write_text("no results")
    plain.mkdir()
    (plain / "odd.csv").write_text("name,ms\n" + "".join(f"r{n},{n}\n" for n in range(20)) + "x,12O\n")
    build = Answers(f"{fixtures},{plain}")
    sound, odd, broken = (Query(name, ()) for name in ("a", "odd", "b"))

    def rules(*asked: Query) -> list[str]:
        return [one.rule for one in build.answer({one.key: one for one in asked}).notes]

    assert rules() == []
    assert rules(sound) == ["MT313"]
    assert build.digest is not None, "which reads all collections"
    assert [one.rule for one in build.notes] == ["MT313"]
    assert rules(broken) == []
    assert rules() == [], "a page without comments changes nothing"
    build.refresh()
    assert rules(sound, odd) == ["MT313", "MT338"]
    (fixtures / "more.xlsx").unlink()
    build.refresh()
    assert rules(sound) == []
    build.close()


@pytest.mark.parametrize("once", [True, False])
def test_a_query_is_let_go_when_it_is_answered(tmp_path: Path, decoded: list[str], once: bool) -> None:
    build = Answers(str(tmp_path), once=once)
    query = Query("a", ({"$match": {"_id": 1}},))
    key, alive = query.key, weakref.ref(query)
    build.answer({key: query})
    assert build.by_key[key] == [{"_id": 1}]
    del query
    assert alive() is None, "sites have tens of thousands"
    build.close()
