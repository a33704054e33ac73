"""A value says a sentence for the verdict of its row, and so does the title of a chart: words follow the rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mongo_tables.directives.pipelines import SharedPipelines
from mongo_tables.directives.specs import ValueSpec
from mongo_tables.findings.finding import Finding
from mongo_tables.site.in_place import draw_files
from mongo_tables.site.markdown import MarkdownContext
from mongo_tables.site.pages import Page, read_page
from mongo_tables.site.statements import value_text
from tests.judged import asked

TABLE = (
    '<!-- MONGO_TABLE: {"id": "speed", "collection": "runs", "columns": ["by", "ops", "compared"], '
    '"format": {"ops": {"decimals": 0, "thousands": true, "unit": "ops/s"}}} -->'
)
SAY = {
    "slower": "UUIDs are {ratio} slower ({interval}), at {ops}.",
    "faster": "UUIDs are {ratio} faster ({interval}), at {ops}.",
    "no difference": "UUIDs cost at most {most}.",
    "not known": "UUIDs are at most {slower} slower or {faster} faster.",
}
VALUE = {"table": "speed", "column": "compared", "where": {"by": "UUID"}, "say": SAY}


def compared(
    verdict: str, ratio: float | None, low: float = 0.0, high: float = 0.0, **more: Any
) -> dict[str, Any]:
    about = {
        "against": "ObjectId",
        "p": 0.01,
        "blocks": 20,
        "margin": 0.1,
        "verdict": verdict,
        "ratio": ratio,
    }
    return about | {"low": low or None, "high": high or None} | more


SLOWER = compared("slower", 0.38, 0.35, 0.43)


def read(folder: Path, text: str, told: object = SLOWER, **more: object) -> Page:
    rows = [
        {
            "_id": 1,
            "by": "ObjectId",
            "ops": 13400,
            "compared": compared("not known", 1.0, 0.9, 1.2, against="itself"),
        },
        {"_id": 2, "by": "UUID", "ops": 5345.4, "compared": told, **more},
    ]
    (folder / "runs").mkdir(exist_ok=True)
    (folder / "runs" / "a.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return read_page(f"{TABLE}\n\n{text}\n", "page.md", SharedPipelines(folder))


def said(folder: Path, value: object, told: object = SLOWER, **more: object) -> str:
    page = read(folder, f"So: <!-- MONGO_VALUE: {json.dumps(value)} -->", told, **more)
    report = asked(folder, page)
    assert not report.faults
    (spec,) = [one for one in page.specs if isinstance(one, ValueSpec)]
    return value_text(spec, report.tables, report.answers)


def faults(folder: Path, value: object, told: object = SLOWER, **more: object) -> list[Finding]:
    page = read(folder, f"So: <!-- MONGO_VALUE: {json.dumps(value)} -->", told, **more)
    return asked(folder, page).faults


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        (SLOWER, "UUIDs are 2.6 times slower (2.3 to 2.9 times), at 5,345 ops/s."),
        (compared("slower", 0.93, 0.91, 0.95), "UUIDs are 7 % slower (5 to 9 %), at 5,345 ops/s."),
        (compared("faster", 1.4, 1.3, 1.5), "UUIDs are 40 % faster (30 to 50 %), at 5,345 ops/s."),
        (compared("faster", 35.2, 9.6, 60), "UUIDs are 35 times faster (9.6 to 60 times), at 5,345 ops/s."),
        (compared("no difference", 1.0, 0.975, 1.02), "UUIDs cost at most 3 %."),
        (compared("not known", 0.9, 0.806, 1.02), "UUIDs are at most 20 % slower or 2 % faster."),
        (compared("not known", 1.1, 1.01, 2.41), "UUIDs are at most 0 % slower or 2.5 times faster."),
    ],
)
def test_the_verdict_of_the_row_chooses_the_sentence(told: object, sentence: str, tmp_path: Path) -> None:
    assert said(tmp_path, VALUE, told) == sentence


def test_campaigns_that_disagree_each_have_their_ratio(tmp_path: Path) -> None:
    each = [{"ratio": 0.5, "low": 0.45, "high": 0.55}, {"ratio": 0.25, "low": 0.2, "high": 0.3}]
    told = compared("slower", 0.35, 0.2, 0.55, each=each, count=2)
    assert said(tmp_path, VALUE, told).startswith(
        "UUIDs are 2.0 or 4.0 times slower (depending on the campaign; 1.8 to 5.0 times)"
    )


def test_bounds_are_the_words_of_tables_without_differences_of_nothing(tmp_path: Path) -> None:
    value = VALUE | {"say": SAY | {"not known": "Not known: {bounds}."}}
    told = compared("not known", 1.1, 1.01, 1.3)
    assert said(tmp_path, value, told) == "Not known: at most 30 % faster."
    assert (
        said(tmp_path, value, compared("not known", 0.9, 0.7, 1.02))
        == "Not known: between 30 % slower and 2 % faster."
    )


def test_a_form_holds_whatever_the_size(tmp_path: Path) -> None:
    slower = "{ratio:percent}, {ratio:factor}, {interval:factor}"
    value = VALUE | {"say": SAY | {"slower": slower}}
    assert (
        said(tmp_path, value, compared("slower", 0.97, 0.96, 0.98)) == "3 %, 1.03 times, 1.02 to 1.04 times"
    )


def test_what_requests_carry_has_a_verdict_of_its_own(tmp_path: Path) -> None:
    value = VALUE | {"per": "limit", "say": SAY | {"faster": "{ratio:factor} as many ({interval:factor})"}}
    assert said(tmp_path, value, compared("slower", 0.1, 0.08, 0.13), limit=400) == (
        "40 times as many (32 to 52 times)"
    )
    assert said(tmp_path, value, compared("slower", 0.1, 0.08, 0.13), limit=10) == (
        "UUIDs are at most 20 % slower or 30 % faster."
    )


@pytest.mark.parametrize(
    ("changed", "rule", "message", "hint"),
    [
        ({"slower": None}, "MT131", "`say` needs the key `slower`", "for example"),
        ({"slower": "{ratoi}"}, "MT302", "has no `ratoi`, which the sentence names", ""),
        ({"faster": "{opps}"}, "MT302", "has no `opps`, which the sentence names", "did you mean `ops`?"),
        ({"slower": "{ratio:facto}"}, "MT133", "there is no form `facto`", "did you mean `factor`?"),
        (
            {"slower": "{most}"},
            "MT133",
            "`{most}` is no figure of the verdict `slower`",
            "`ratio`, `interval`",
        ),
        ({"slower": "{ops:factor}"}, "MT133", "has a form, but only numeric figures", "leave the form out"),
        ({"slower": "{ratio"}, "MT133", "a brace that does not belong to a placeholder", "{ratio}"),
        ({"slower": "{}"}, "MT133", "names nothing", "`ratio`"),
        (
            {"not known": "{bounds:factor}"},
            "MT133",
            "has a form, but only numeric figures",
            "leave the form out",
        ),
        ({"slower": " "}, "MT133", "is not possible as `say.slower`", "a sentence is not blank"),
    ],
)
def test_a_sentence_that_no_row_can_fill_is_reported_where_it_is(
    changed: dict[str, str | None], rule: str, message: str, hint: str, tmp_path: Path
) -> None:
    say = {verdict: text for verdict, text in (SAY | changed).items() if text is not None}
    (one,) = faults(tmp_path, VALUE | {"say": say})
    assert (one.rule, one.line) == (rule, 3)
    assert one.column > 20
    assert message in one.message
    assert hint in one.hint


@pytest.mark.parametrize(
    ("changed", "told", "message"),
    [
        ({"column": "ops"}, SLOWER, "`ops` of table `speed` is not a comparison here"),
        ({"where": {"by": "ObjectId"}}, SLOWER, "compares the reference with itself"),
        ({}, compared("not known", None), "has no text for `{slower}`"),
        ({"per": "by"}, SLOWER, "`by` of table `speed` is not a number above 0"),
    ],
)
def test_a_row_without_a_verdict_or_a_figure_is_reported(
    changed: dict[str, object], told: object, message: str, tmp_path: Path
) -> None:
    (one,) = faults(tmp_path, VALUE | changed, told)
    assert one.rule == "MT325"
    assert message in one.message
    assert one.hint


def test_a_null_in_the_sentence_that_the_row_needs_is_reported(tmp_path: Path) -> None:
    (one,) = faults(tmp_path, VALUE | {"say": SAY | {"slower": "{disk}"}}, disk=None)
    assert (one.rule, "`{disk}`" in one.message) == ("MT325", True)


def test_a_contradiction_is_reported_as_in_a_table(tmp_path: Path) -> None:
    assert "MT334" in {one.rule for one in faults(tmp_path, VALUE, compared("faster", 0.38, 0.35, 0.43))}


def test_what_a_request_carries_needs_a_sentence(tmp_path: Path) -> None:
    value = {key: told for key, told in VALUE.items() if key != "say"} | {"per": "ops"}
    assert [one.rule for one in faults(tmp_path, value)] == ["MT145"]


CHART = {"id": "drawn", "collection": "runs", "mark": "bar", "x": "by", "y": "ops", "title": VALUE}


@pytest.mark.parametrize("told", [SLOWER, compared("faster", 1.4, 1.3, 1.5)])
def test_the_title_of_a_chart_is_such_a_sentence(told: dict[str, Any], tmp_path: Path) -> None:
    page = read(tmp_path, f"<!-- MONGO_CHART: {json.dumps(CHART)} -->", told)
    report = asked(tmp_path, page)
    sentence = said(tmp_path, VALUE, told)
    assert not report.faults
    assert f"{told['verdict']} (" in sentence
    assert f"<strong>{sentence}</strong>" in report.figures.html(page, lambda name, text: "")[1]
    lines = MarkdownContext(report.answers, report.tables).table_lines(page.pipeline_specs[1])
    assert sentence in lines[0].replace("\\", "")
    (drawn,) = draw_files(page, tmp_path / "page.md", report.answers, report.tables, lambda path: path.name)
    assert sentence in drawn.text


def test_what_is_wrong_with_a_title_stands_in_the_title(tmp_path: Path) -> None:
    wrong = [
        VALUE | {"table": "sped"},
        VALUE | {"where": {"by": "UUUID"}},
        VALUE | {"say": SAY | {"faster": "{x}"}},
    ]
    for title, rule in zip(wrong, ("MT139", "MT320", "MT302"), strict=True):
        written = json.dumps(CHART | {"title": title})
        page = read(tmp_path, f"<!-- MONGO_CHART: {written} -->")
        (one,) = asked(tmp_path, page).faults
        assert (one.rule, one.line) == (rule, 3)
        assert one.column > written.index('"title"')
