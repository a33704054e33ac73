"""What is written in another format comes back from it, or is told."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mongo_tables.cli import main
from mongo_tables.commands.export import benchertext, gotext
from mongo_tables.commands.export.losses import list_losses, read_back
from mongo_tables.results.formats.benchmark import Benchmark, Interval, Origin, make_document
from tests.results.formats.reading import read, write

FIGURES = st.floats(min_value=1e-12, max_value=1e12)
WORDS = st.text(st.characters(codec="ascii", categories=["Lu", "Nd"]), min_size=1, max_size=6)
ANY_TEXT = st.text(max_size=12)
PARAMETERS = st.dictionaries(
    WORDS, st.integers(-999, 999) | WORDS.filter(lambda text: not text.isdigit()), max_size=2
)


def texts(columns: str) -> st.SearchStrategy[str]:
    return st.from_regex(columns, fullmatch=True)


@st.composite
def go_names(draw: st.DrawFn) -> tuple[str, str, dict[str, Any]]:
    """A full name as Go writes it, the name and the parameters in it."""
    name = draw(texts(r"[A-Z][a-z]{0,5}(/[a-z]{1,5})?"))
    parameters = draw(st.dictionaries(texts("[a-z]{1,4}"), st.integers(0, 999), max_size=2))
    full = f"Benchmark{name}" + "".join(f"/{key}={value}" for key, value in parameters.items())
    return full, name, parameters


@st.composite
def go_documents(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Documents with nothing that Go's format has no place for."""
    origin = Origin(
        "Go benchmark",
        start=draw(
            st.none()
            | st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1)).map(
                lambda one: one.replace(microsecond=0)
            )
        ),
        versions=draw(st.fixed_dictionaries({}, optional={"harness": texts("[a-z]{1,5} [0-9]")})),
        hardware=draw(st.fixed_dictionaries({}, optional={"cpu": WORDS, "cores": st.integers(1, 64)})),
        commit=draw(
            st.sampled_from(
                [{}, {"id": "1a2b"}, {"id": "1a2b", "branch": "main", "time": datetime(2026, 1, 31)}]
            )
        ),
    )
    found = {}
    for full, name, parameters in draw(st.lists(go_names(), min_size=1, max_size=4)):
        metric, unit, better = draw(
            st.sampled_from([("time", "s", "lower"), ("B/op", "B/op", "lower"), ("hits", "hits", "higher")])
        )
        samples = draw(st.lists(FIGURES, min_size=1, max_size=4))
        one = Benchmark(
            "pkg",
            full,
            metric,
            unit,
            full.removeprefix("Benchmark"),
            name,
            better,
            parameters,
            samples=samples,
            iterations=draw(st.integers(1, 10**9)),
        )
        found[full, metric] = make_document(origin, one)
    return list(found.values())


@st.composite
def any_documents(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Documents with whatever texts tools let through."""
    found = {}
    for number in range(draw(st.integers(1, 4))):
        samples = draw(st.lists(FIGURES, max_size=3))
        one = Benchmark(
            suite=draw(ANY_TEXT), key=draw(ANY_TEXT) + str(number), metric=draw(st.sampled_from(["time", "throughput"]) | ANY_TEXT),
            unit=draw(st.sampled_from(["s", "ops/s", ""])), name=draw(ANY_TEXT), better=draw(st.sampled_from(["lower", "higher", ""])),
            parameters=draw(PARAMETERS), value=draw(st.none() | FIGURES), statistic="mean", samples=samples,
            interval=draw(st.none() | st.just(Interval(0.5, 2.0, "of somebody"))),
        )  # fmt: skip
        found[one.suite, one.key, one.metric] = make_document(Origin("some tool"), one)
    return list(found.values())


def losses(documents: list[dict[str, Any]], module: Any) -> list[str]:
    written = module.write(documents)
    return list(list_losses(documents, written, read_back(written.text, module.READER)))


@given(go_documents())
def test_what_go_can_carry_comes_back_from_its_format_as_it_was(documents):
    written = gotext.write(documents)
    back = read_back(written.text, gotext.READER)
    assert sorted(back, key=lambda one: repr(one["_id"])) == sorted(
        documents, key=lambda one: repr(one["_id"])
    )
    assert losses(documents, gotext) == []


@st.composite
def bencher_documents(draw: st.DrawFn) -> list[dict[str, Any]]:
    measures = [("time", "s", "lower"), ("throughput", "ops/s", "higher"), ("size", "", "")]
    found = {}
    for key in draw(st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=4, unique=True)):
        metric, unit, better = draw(st.sampled_from(measures))
        low, value, high = sorted(draw(st.tuples(FIGURES, FIGURES, FIGURES)))
        interval = draw(
            st.sampled_from([None, Interval(low, high, "lower and upper value, as given to Bencher")])
        )
        one = Benchmark("Bencher", key, metric, unit, better=better, value=value, interval=interval)
        found[key, metric] = make_document(Origin("Bencher"), one)
    return list(found.values())


@given(bencher_documents())
def test_what_bencher_can_carry_comes_back_from_its_format_as_it_was(documents):
    written = benchertext.write(documents)
    back = read_back(written.text, benchertext.READER)
    assert [one["_id"] for one in back] == [one["_id"] for one in documents]
    assert losses(documents, benchertext) == []  # Nanoseconds may cost the last of seventeen digits.


@given(any_documents(), st.sampled_from([gotext, benchertext]))
@settings(max_examples=200)
def test_every_figure_of_any_document_is_written_and_what_is_lost_is_told(documents, module):
    written = module.write(documents)
    back = {tuple(one["_id"].values()): one for one in read_back(written.text, module.READER)}
    told = "\n".join(losses(documents, module))
    for document, place in zip(documents, written.places, strict=True):
        if place is None:
            assert document["value"] is None
            assert "the whole document" in told
        elif document.get("samples") and module is gotext:
            assert back[place]["samples"] == document["samples"]
        else:
            assert back[place]["value"] == pytest.approx(document["value"], rel=1e-15)
        if place is not None and back[place]["name"] != document["name"]:
            assert "name (" in told
    assert len(back) == sum(place is not None for place in written.places)


def test_benchmarks_of_another_tool_are_go_text_with_names_that_go_could_have_given(tmp_path, capsys):
    result = {
        "command": "sort <b> | uniq",
        "mean": 0.2,
        "stddev": 0.1,
        "system": 0.0,
        "times": [0.1, 0.3],
        "parameters": {"size": "10"},
    }
    source = write(tmp_path, json.dumps({"results": [result]}))
    assert main(["export", str(source), "--format", "go"]) == 0
    out, err = capsys.readouterr()
    assert "BenchmarkSort_<b>_|_uniq/size=10\t1\t100000000 ns/op\n" in out
    assert "not in this format: name (2 of 2 documents)" in err
    assert "not in this format: processes (1 of 2 documents)" in err


def test_equal_names_are_told_apart_as_go_does():
    ones = [
        make_document(Origin("x"), Benchmark("s", key, "time", "s", name="a b", base="a b", value=1.0))
        for key in ("1", "2")
    ]
    assert [place and place[1] for place in gotext.write(ones).places] == ["BenchmarkA_b", "BenchmarkA_b#01"]


def test_a_name_of_two_suites_has_its_suite_before_it_in_bencher():
    ones = [
        make_document(Origin("x"), Benchmark(suite, "a", "time", "s", value=1e-9)) for suite in ("p", "q")
    ]
    assert json.loads(benchertext.write(ones).text) == {
        "p: a": {"latency": {"value": 1.0}},
        "q: a": {"latency": {"value": 1.0}},
    }


def test_an_export_of_an_import_is_that_of_the_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "pkg: p\nBenchmarkA/n=1-4\t10\t1.5 ns/op\nBenchmarkA/n=1-4\t10\t2.5 ns/op\n", "go.txt")
    assert main(["import", "go.txt", "--as", "bench"]) == 0
    assert main(["export", "fixtures", "--collection", "bench", "--format", "go", "--to", "out.txt"]) == 0
    assert read(Path("out.txt")) == read(Path("go.txt"))


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["nothing.json"], "there is no file nothing.json"),
        (["rows.json"], "has no benchmarks"),
        (["bench", "--collection", "other"], "has no collection 'other'"),
    ],
)
def test_where_there_are_no_benchmarks_nothing_is_written(tmp_path, monkeypatch, capsys, arguments, told):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, '[{"a": 1}]', "rows.json")
    (tmp_path / "bench" / "rows").mkdir(parents=True)
    assert main(["export", *arguments, "--format", "go"]) == 2
    out, err = capsys.readouterr()
    assert (out, told in err, err.count("\n") <= 3) == ("", True, True)
