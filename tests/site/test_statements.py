"""Values and statements in the prose: they hold, or the finding says at which sentence, which row and which value."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mongo_tables.directives.pipelines import SharedPipelines
from mongo_tables.directives.specs import ValueSpec
from mongo_tables.findings.finding import Finding
from mongo_tables.site.pages import read_page
from mongo_tables.site.statements import value_text
from tests.judged import asked, unasked

TABLE = (
    '<!-- MONGO_TABLE: {"id": "speed", "collection": "runs", "pipeline": [{"$sort": {"n": 1}}], "columns": ["n", "ops"], '
    '"headers": ["Threads", "Speed"], "format": {"ops": {"decimals": 0, "thousands": true, "unit": "ops/s"}}} -->'
)
ROWS = '{"_id": 1, "n": 1, "ops": 4200.4}\n{"_id": 2, "n": 8, "ops": 30100}\n{"_id": 3, "n": 16}\n'


@pytest.fixture
def fixtures(tmp_path: Path) -> Path:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "a.jsonl").write_text(ROWS)
    return tmp_path


def judged(prose: str, fixtures: Path) -> list[Finding]:
    page = read_page(f"{TABLE}\n\n{prose}\n", "page.md", SharedPipelines(fixtures))
    return asked(fixtures, page).faults


def shown(body: str, fixtures: Path) -> str:
    page = read_page(
        f"{TABLE}\n\nSpeed: <!-- MONGO_VALUE: {body} -->\n", "page.md", SharedPipelines(fixtures)
    )
    (spec,) = [spec for spec in page.specs if isinstance(spec, ValueSpec)]
    build = asked(fixtures, page)
    return value_text(spec, build.tables, build.answers)


def test_a_value_is_written_as_its_column_is(fixtures: Path) -> None:
    assert shown('{"table": "speed", "column": "ops", "where": {"n": 8}}', fixtures) == "30,100 ops/s"


def test_the_end_of_a_range_is_written_as_the_column_whose_range_it_is(fixtures: Path) -> None:
    (fixtures / "runs" / "a.jsonl").write_text(
        '{"_id": 1, "n": 8, "ops": 30100, "least": 29999.7, "most": 30500}\n'
    )
    ranged = TABLE.replace('"format"', '"spread": {"ops": ["least", "most"]}, "format"')
    page = read_page(
        f'{ranged}\n\nSpeed: <!-- MONGO_VALUE: {{"table": "speed", "column": "least", "where": {{"n": 8}}}} -->\n',
        "page.md",
        SharedPipelines(fixtures),
    )
    (spec,) = [spec for spec in page.specs if isinstance(spec, ValueSpec)]
    build = asked(fixtures, page)
    assert value_text(spec, build.tables, build.answers) == "30,000 ops/s"


@pytest.mark.parametrize(
    ("verdict", "figures", "words"),
    [
        ("slower", (0.93, 0.91, 0.95), "7 % slower (5 to 9 %)"),
        ("faster", (2.4, 2.1, 2.7), "2.4 times as fast (2.1 to 2.7 times)"),
        ("no difference", (1.0, 0.97, 1.04), "no difference larger than 4 %"),
        ("not known", (1.01, 0.91, 1.12), "between 9 % slower and 12 % faster"),
        ("not known", (None, 0.0, 1e9), "not known"),
    ],
)
def test_a_conclusion_is_written_in_words(
    verdict: str, figures: tuple[float | None, float, float], words: str, fixtures: Path
) -> None:
    told = dict(zip(("ratio", "low", "high"), figures, strict=True))
    about = {"against": "n 1", "p": 0.01, "blocks": 20, "margin": 0.1, "verdict": verdict}
    (fixtures / "runs" / "a.jsonl").write_text(
        json.dumps({"_id": 1, "n": 1, "ops": 1, "comparison": told | about})
    )
    assert shown('{"table": "speed", "column": "comparison"}', fixtures) == words


@pytest.mark.parametrize(
    ("figures", "verdict"),
    [((0.9, 0.85, 0.95), "faster"), ((1.0, None, None), "no difference"), ((1.3, 1.1, 1.2), "faster")],
)
def test_a_conclusion_that_contradicts_itself_is_told_and_not_written(
    figures: tuple[float | None, ...], verdict: str, fixtures: Path
) -> None:
    told = {name: one for name, one in zip(("ratio", "low", "high"), figures, strict=True) if one is not None}
    about = {"against": "n 1", "p": 0.01, "blocks": 20, "margin": 0.1, "verdict": verdict}
    (fixtures / "runs" / "a.jsonl").write_text(
        json.dumps({"_id": 1, "n": 1, "ops": 1, "comparison": told | about})
    )
    body = '{"table": "speed", "column": "comparison"}'
    assert [one.rule for one in judged(f"<!-- MONGO_VALUE: {body} -->", fixtures)] == ["MT334"]
    assert "%" not in shown(body, fixtures)


def test_a_value_may_have_a_format_of_its_own(fixtures: Path) -> None:
    body = '{"table": "speed", "column": "ops", "where": {"n": {"$lt": 8}}, "format": {"decimals": 1}}'
    assert shown(body, fixtures) == "4200.4"


@pytest.mark.parametrize(
    ("body", "rule", "said"),
    [
        ('{"table": "speed", "column": "ops"}', "MT320", "3 rows of table `speed` match"),
        ('{"table": "speed", "column": "ops", "where": {"n": 9}}', "MT320", "0 rows"),
        ('{"table": "speed", "column": "rate", "where": {"n": 8}}', "MT302", "no `rate`"),
        ('{"table": "sped", "column": "ops"}', "MT139", "`sped`"),
        ('{"table": "speed", "column": "ops", "where": {"n": {"$lessthan": 8}}}', "MT323", "$lessthan"),
    ],
)
def test_a_value_that_cannot_be_had_is_reported_in_its_sentence(
    body: str, rule: str, said: str, fixtures: Path
) -> None:
    (found,) = judged(f"Speed: <!-- MONGO_VALUE: {body} -->", fixtures)
    assert (found.rule, found.line, said in found.message) == (rule, 3, True), found


def test_a_statement_that_holds_is_silent(fixtures: Path) -> None:
    body = '{"table": "speed", "where": {"n": {"$gte": 8}, "ops": {"$exists": true}}, "expect": {"ops": {"$gt": 30000}}}'
    assert judged(f"Fast.<!-- MONGO_CHECK: {body} -->", fixtures) == []


def test_a_statement_that_fails_names_its_line_the_rows_and_the_values(fixtures: Path) -> None:
    body = (
        '{"table": "speed", "where": {"n": {"$gt": 1}}, "expect": {"ops": {"$gt": 40000}}, "message": "fast"}'
    )
    (found,) = judged(f"First line.\n\nFast.<!-- MONGO_CHECK: {body} -->", fixtures)
    assert (found.rule, found.line, found.column) == ("MT322", 5, 6)
    assert "“fast” does not hold for 2 rows of 2" in found.message
    assert "n is 8, ops is 30100" in found.message


def test_a_figure_in_a_message_has_no_more_digits_than_its_table_or_than_tell_it_from_the_bound(
    fixtures: Path,
) -> None:
    (fixtures / "runs" / "b.jsonl").write_text('{"_id": 9, "n": 77, "ops": 105.91260869565217}\n')

    def told(bound: str) -> str:
        body = f'{{"table": "speed", "where": {{"n": 77}}, "expect": {{"ops": {{"$gt": {bound}}}}}}}'
        (found,) = judged(f"Fast.<!-- MONGO_CHECK: {body} -->", fixtures)
        return found.message.rpartition(" is ")[2]

    assert told("40000") == "106"  # as the table has it: its format has no decimals
    assert told("106") == "105.913"
    assert told("105.913") == "105.9126"


@pytest.mark.parametrize(
    ("query", "named", "hint"),
    [
        ('"expect": {"opps": {"$ne": 5}}', "`opps` of `expect`", "did you mean `ops`?"),
        ('"expect": {"erors": {"$ne": 5}}', "`erors` of `expect`", "the rows have _id, n, ops"),
        ('"expect": {"erors": null}', "`erors` of `expect`", "the rows have _id, n, ops"),
        ('"expect": {"$nor": [{"opps": 5}]}', "`opps` of `expect`", "did you mean `ops`?"),
        (
            '"expect": {"$and": [{"n": {"$gt": 0}}, {"ops.mean": {"$ne": 1}}]}',
            "`ops.mean` of",
            "the rows",
        ),
        ('"expect": {"$expr": {"$ne": ["$opps", 5]}}', "`opps` of `expect`", "did you mean `ops`?"),
        ('"expect": {"opps": {"$not": {"$gt": 5}}}', "`opps` of `expect`", "did you mean `ops`?"),
        ('"where": {"opps": {"$ne": 5}}, "expect": {"n": {"$gt": 0}}', "`opps` of `where`", "did you"),
    ],
)
def test_a_statement_about_a_field_that_no_row_has_does_not_hold_unnoticed(
    query: str, named: str, hint: str, fixtures: Path
) -> None:
    (found,) = judged(f'Sound.<!-- MONGO_CHECK: {{"table": "speed", {query}}} -->', fixtures)
    assert (found.rule, found.severity, found.line) == ("MT302", "error", 3)
    assert named in found.message
    assert found.hint.startswith(hint)


def test_a_value_asks_for_its_row_by_fields_that_rows_have(fixtures: Path) -> None:
    body = '{"table": "speed", "column": "n", "where": {"n": 8, "opps": {"$ne": 5}}}'
    (found,) = judged(f"Speed: <!-- MONGO_VALUE: {body} -->", fixtures)
    assert (found.rule, "`opps`" in found.message) == ("MT302", True)


def test_fields_asked_of_the_elements_of_an_array_are_looked_for_in_them(fixtures: Path) -> None:
    (fixtures / "runs" / "b.jsonl").write_text(
        '{"_id": 9, "n": 77, "ops": 1, "steps": [{"ms": 1}, {"ms": 3}]}\n'
    )

    def of_steps(condition: str) -> list[str]:
        body = f'{{"table": "speed", "where": {{"n": 77}}, "expect": {{"steps": {condition}}}}}'
        return [one.rule for one in judged(f"Quick.<!-- MONGO_CHECK: {body} -->", fixtures)]

    assert of_steps('{"$elemMatch": {"ms": {"$lt": 5}}}') == []
    assert of_steps('{"$not": {"$elemMatch": {"ms": {"$gt": 5}}}}') == []
    assert of_steps('{"$not": {"$elemMatch": {"msec": {"$gt": 5}}}}') == ["MT302"]


@pytest.mark.parametrize(
    "expect",
    [
        '{"errors": {"$exists": false}}',
        '{"$or": [{"errors": 0}, {"errors": {"$exists": false}}]}',
        '{"ops": {"$ne": 5}}',
        '{"n": {"$in": [1, 8, 16]}}',
    ],
)
def test_a_statement_may_expect_that_a_field_is_not_there_or_that_only_some_rows_have_it(
    expect: str, fixtures: Path
) -> None:
    body = f'{{"table": "speed", "expect": {expect}}}'
    assert judged(f"No errors.<!-- MONGO_CHECK: {body} -->", fixtures) == []


def test_a_statement_about_no_row_is_no_statement(fixtures: Path) -> None:
    body = '{"table": "speed", "where": {"n": 99}, "expect": {"ops": {"$gt": 1}}}'
    (found,) = judged(f"<!-- MONGO_CHECK: {body} -->", fixtures)
    assert found.rule == "MT321"


def test_a_fault_of_the_table_is_told_once(fixtures: Path) -> None:
    page_text = (
        TABLE.replace("$sort", "$sorted")
        + "\n\n<!-- MONGO_VALUE: "
        + '{"table": "speed", "column": "ops"} -->\n'
    )
    page = read_page(page_text, "page.md", SharedPipelines(fixtures))
    found = asked(fixtures, page).faults
    assert [one.rule for one in found] == ["MT301"]


def test_a_query_that_cannot_be_run_is_reported_at_the_very_word(fixtures: Path) -> None:
    for key, other in (("where", "expect"), ("expect", "where")):
        faulty = '{"$and": [{"n": {"$gt": 1}}, {"ops": {"$lessthan": 8}}]}'
        body = f'{{"table": "speed",\n "{other}": {{"n": {{"$gt": 0}}}},\n "{key}": {faulty}}}'
        (found,) = judged(f"<!-- MONGO_CHECK: {body} -->", fixtures)
        place = (5, f' "{key}": {faulty}'.index('"$lessthan"') + 1)
        assert (found.rule, (found.line, found.column)) == ("MT323", place), found


def test_a_statement_that_fails_names_the_rows_by_what_tells_them_apart(tmp_path: Path) -> None:
    (tmp_path / "trains").mkdir()
    trains = [("S1", "Mo", 9), ("S1", "Tu", 120), ("S2", "Mo", 150), ("S2", "Tu", 170), ("S3", "Mo", 180)]
    lines = [
        f'{{"_id": "{line}{day}", "line": "{line}", "day": "{day}", "fare": {fare}}}'
        for line, day, fare in trains
    ]
    (tmp_path / "trains" / "a.jsonl").write_text("\n".join(lines))
    table = (
        '<!-- MONGO_TABLE: {"id": "fares", "collection": "trains", "pipeline": [{"$sort": {"line": 1, "day": 1}}], '
        '"columns": ["line", "day", "fare"], "headers": ["Line", "Day", "Fare"]} -->\n\n'
    )

    def told(body: str) -> str:
        page = read_page(
            f'{table}<!-- MONGO_CHECK: {{"table": "fares", {body}}} -->\n',
            "page.md",
            SharedPipelines(tmp_path),
        )
        (found,) = asked(tmp_path, page).faults
        return found.message

    assert told('"expect": {"fare": {"$lt": 100}}').endswith(
        "4 rows of 5: line is S1, day is Tu, fare is 120; line is S2, day is Mo, fare is 150; "
        "line is S2, day is Tu, fare is 170; …"
    )
    monday = told('"where": {"day": "Mo"}, "expect": {"fare": {"$lt": 160}}')
    assert monday.endswith("1 row of 3: line is S3, day is Mo, fare is 180")


@pytest.mark.parametrize(
    "fault",
    [
        ("}]", "]"),  # a brace that is missing
        ('"pipeline"', "'pipeline"),  # a quote that is not closed
        ("-->", "--!>"),  # another end of the comment
        ('"columns"', '"colums"'),
    ],
)
def test_a_faulty_table_does_not_make_the_numbers_taken_from_it_faulty(
    fault: tuple[str, str], tmp_path: Path
) -> None:
    value = '<!-- MONGO_VALUE: {"table": "speed", "column": "ops", "where": {"n": 1}} -->'
    page = read_page(f"{value}\n\n{TABLE.replace(*fault)}\n", "page.md", SharedPipelines(tmp_path))
    found = unasked(tmp_path, page).faults
    assert found
    assert {one.line for one in found} == {3}


@pytest.mark.parametrize(
    ("change", "rules"),
    [
        (('"runs"', '"run"'), ["MT304"]),
        (('{"$sort"', '{"$match": {"n": 99}}, {"$sort"'), ["MT303"]),
        (('"pipeline"', '"empty": "none", "pipeline"'), []),
        (('"collection": "runs"', '"collection": "runs2", "empty": "none"'), ["MT320", "MT321"]),
        (('"collection": "runs"', '"collection": "runs2", "ignore": {"MT304": "later"}'), ["MT320", "MT321"]),
    ],
)
def test_of_a_table_that_has_no_rows_its_values_and_statements_say_nothing_more(
    change: tuple[str, str], rules: list[str], fixtures: Path
) -> None:
    prose = (
        '<!-- MONGO_VALUE: {"table": "speed", "column": "ops", "where": {"n": 8}} --> '
        '<!-- MONGO_CHECK: {"table": "speed", "expect": {"n": {"$gt": 0}}} -->'
    )
    page = read_page(f"{TABLE.replace(*change)}\n\n{prose}\n", "page.md", SharedPipelines(fixtures))
    found = asked(fixtures, page).faults
    assert [one.rule for one in found] == rules


CONCLUDED = (
    '<!-- MONGO_TABLE: {"id": "speed", "collection": "runs", "pipeline": [{"$match": {"comparison.blocks": {"$gt": 0}}}, '
    '{"$project": {"n": 1, "ops": 1, "comparison": 1}}, {"$sort": {"n": 1}}], "columns": ["n", "ops"], "headers": '
    '["Indexes", "Speed"], "baseline": {"row": {"n": 0}, "column": "ops", "comparison": "comparison"}} -->'
)
CAMPAIGN = """\
{"_id": 10, "n": 0, "ops": 100, "comparison": {"against": "itself", "ratio": 1.01, "low": 0.97, "high": 1.05, "p": 0.6, \
"blocks": 20, "margin": 0.1, "verdict": "no difference"}}
{"_id": 11, "n": 1, "ops": 89, "comparison": {"against": "n 0", "ratio": 0.88, "low": 0.82, "high": 0.94, "p": 0.001, \
"blocks": 20, "margin": 0.1, "verdict": "slower"}}
"""


@pytest.fixture
def campaign(fixtures: Path) -> Path:
    (fixtures / "runs" / "b.jsonl").write_text(CAMPAIGN)
    return fixtures


def concluded(prose: str, fixtures: Path) -> tuple[list[Finding], list[str]]:
    page = read_page(f"{CONCLUDED}\n\n{prose}\n", "page.md", SharedPipelines(fixtures))
    build = asked(fixtures, page)
    values = [spec for spec in page.specs if isinstance(spec, ValueSpec)]
    return build.faults, [value_text(spec, build.tables, build.answers) for spec in values]


@pytest.mark.parametrize(
    ("field", "text"),
    [("ratio", "0.88"), ("low", "0.82"), ("high", "0.94"), ("blocks", "20"), ("verdict", "slower")],
)
def test_a_sentence_takes_what_a_row_concludes(field: str, text: str, campaign: Path) -> None:
    body = f'{{"table": "speed", "column": "comparison.{field}", "where": {{"n": 1}}}}'
    assert concluded(f"It is <!-- MONGO_VALUE: {body} -->.", campaign) == ([], [text])


def test_a_statement_is_held_to_the_interval(campaign: Path) -> None:
    body = '{"table": "speed", "where": {"n": 1}, "expect": {"comparison.verdict": "slower", "comparison.high": {"$lt": %s}}}'
    assert concluded(f"Slower.<!-- MONGO_CHECK: {body % 0.95} -->", campaign)[0] == []
    ((found,), _) = concluded(f"Slower.<!-- MONGO_CHECK: {body % 0.9} -->", campaign)
    assert (found.rule, "comparison.high is 0.94" in found.message) == ("MT322", True)


NAMES = ("read all", "read one", "write")


@pytest.mark.parametrize(
    ("comment", "rule", "hint"),
    [
        ('VALUE: {"table": "speed", "column": "ops", "where": {"n": "read al"}}', "MT320", "did you mean `read all`?"),
        ('VALUE: {"table": "speed", "column": "ops", "where": {"n": "x"}}', "MT320", "let `where` select exactly one row"),
        ('VALUE: {"table": "speed", "column": "ops", "where": {"n": 5}}', "MT320", "let `where` select exactly one row"),
        ('VALUE: {"table": "speed", "column": "ops"}', "MT320", "let `where` select exactly one row, also by `n`"),
        ('VALUE: {"table": "speed", "column": "opps", "where": {"n": "write"}}', "MT302", "did you mean `ops`?"),
        ('CHECK: {"table": "speed", "where": {"n": "wrte"}, "expect": {"ops": 1}}', "MT321", "did you mean `write`?"),
    ],
)  # fmt: skip
def test_a_mistyped_name_is_told_with_the_one_that_was_meant(
    comment: str, rule: str, hint: str, fixtures: Path
) -> None:
    rows = [{"_id": number, "n": name, "ops": number} for number, name in enumerate(NAMES)]
    (fixtures / "runs" / "a.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (found,) = judged(f"So <!-- MONGO_{comment} -->", fixtures)
    assert (found.rule, found.hint) == (rule, hint)


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ('"expect": {"ops": {"$not": {"$gt": 5000}}}', '`$gt` compares the string "30,100" with a number'),
        ('"where": {"n": 8}, "expect": {"ops": {"$ne": 30100}}', 'for `$ne`, "30,100" is not 30100'),
        (
            '"where": {"ops": {"$lt": 5000}}, "expect": {"n": 1}',
            '`$lt` compares the string "30,100" with a number',
        ),
        ('"expect": {"$expr": {"$gt": ["$ops", 50]}}', '`$gt` compares the string "30,100" with a number'),
        (
            '"where": {"$expr": {"$and": [{"$lt": [5000, "$ops"]}]}}, "expect": {"n": 1}',
            '`$lt` compares the string "30,100" with a number',
        ),
    ],
)
def test_a_statement_that_compares_texts_with_numbers_does_not_hold_unseen(
    statement: str, says: str, fixtures: Path
) -> None:
    (fixtures / "runs" / "a.jsonl").write_text(ROWS.replace("30100", '"30,100"'))
    (found,) = [
        one
        for one in judged(f'<!-- MONGO_CHECK: {{"table": "speed", {statement}}} -->', fixtures)
        if one.rule != "MT301"
    ]
    assert (found.rule, found.line) == ("MT433", 3)
    assert says in found.message


@pytest.mark.parametrize(
    "expected",
    [
        {"$expr": {"$or": [{"$not": {"$isNumber": "$ops"}}, {"$gt": ["$ops", 50]}]}},
        {"$expr": {"$gt": [{"$size": {"$ifNull": [["$ops"], []]}}, 0]}},
    ],
)
def test_a_statement_that_knows_of_texts_or_compares_what_is_made_of_them_is_none(
    expected: dict[str, Any], fixtures: Path
) -> None:
    (fixtures / "runs" / "a.jsonl").write_text(ROWS.replace("30100", '"30,100"'))
    check = f'<!-- MONGO_CHECK: {{"table": "speed", "expect": {json.dumps(expected)}}} -->'
    assert [one.rule for one in judged(check, fixtures) if one.rule != "MT301"] == []


def test_a_statement_about_other_rows_than_those_with_texts_holds(fixtures: Path) -> None:
    (fixtures / "runs" / "a.jsonl").write_text(ROWS.replace("30100", '"30,100"'))
    found = judged(
        '<!-- MONGO_CHECK: {"table": "speed", "where": {"n": 1}, "expect": {"ops": {"$lt": 5000}}} -->',
        fixtures,
    )
    assert [one for one in found if one.rule in ("MT322", "MT433")] == []
