"""The rewrites that hints stand for: what an editor offers, and what `check --fix` does."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from mongo_tables.findings.finding import Finding
from mongo_tables.results.answers import Answers
from mongo_tables.site.pages import read_page
from mongo_tables.site.rewrites import TextChange, apply_edits, find_offset, mend, rewrites_of
from tests.judged import report_on

FILE = "page.md"


def comment(pipeline: str, columns: str = '["n"]') -> str:
    return (
        f'<!-- MONGO_TABLE: {{"collection": "runs", "pipeline": [{pipeline}], "columns": {columns}, '
        '"headers": ["N"]} -->'
    )


@pytest.fixture
def asked(tmp_path: Path) -> Answers:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "a.jsonl").write_text('{"_id": 1, "n": 2, "deep": {"name": "a"}}\n')
    return Answers(str(tmp_path))


@pytest.fixture
def judge(asked: Answers):
    """The findings of a text as a page."""

    def judged(text: str) -> list[Finding]:
        build = report_on(asked, read_page(text, FILE, lambda _: None))
        return build.findings

    return judged


def all_done(text: str, findings: list[Finding]) -> list[str]:
    """The page after each of the rewrites that its findings have."""
    return [apply_edits(text, one.edits) for finding in findings for one in rewrites_of(finding, text)]


SORTED = '{"$sort": {"n": 1}}'


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        *(
            (f"{comment(SORTED)[:-4]}{end}\n\nWords.\n", f"{comment(SORTED)}\n\nWords.\n")
            for end in ("", " ->", "—>", " -- >")
        ),
        (comment(f'{{"$mach": {{"n": 2}}}}, {SORTED}'), comment(f'{{"$match": {{"n": 2}}}}, {SORTED}')),
        (comment('{"$sort": {"n": 1}}', '["nn"]'), comment('{"$sort": {"n": 1}}')),
        (
            comment(f'{{"$set": {{"n": {{"$divid": ["$n", 2]}}}}}}, {SORTED}'),
            comment(f'{{"$set": {{"n": {{"$divide": ["$n", 2]}}}}}}, {SORTED}'),
        ),
        (
            comment(f'{{"$set": {{"n": "$deep.nam"}}}}, {SORTED}'),
            comment(f'{{"$set": {{"n": "$deep.name"}}}}, {SORTED}'),
        ),
        (
            comment(f'{{"$match": {{"n": {{"$gtt": 1}}}}}}, {SORTED}'),
            comment(f'{{"$match": {{"n": {{"$gt": 1}}}}}}, {SORTED}'),
        ),
        (comment(SORTED).replace("headers", "header"), comment(SORTED)),
        (comment(SORTED).replace("MONGO_TABLE", "MONGO_TABEL"), comment(SORTED)),
        (comment(SORTED).replace("MONGO_TABLE:", "MONGO_TABLE"), comment(SORTED)),
        (comment(SORTED).replace('"runs"', '"run"'), comment(SORTED)),
        (
            comment(f'{{"$match": {{"n": {{"$gt": NumberLong(1)}}}}}}, {SORTED}'),
            comment(f'{{"$match": {{"n": {{"$gt": {{"$numberLong": "1"}}}}}}}}, {SORTED}'),
        ),
        (
            comment(f'{{"$match": {{"n": {{"$ne": ISODate("2026-01-01")}}}}}}, {SORTED}'),
            comment(f'{{"$match": {{"n": {{"$ne": {{"$date": "2026-01-01T00:00:00Z"}}}}}}}}, {SORTED}'),
        ),
        (
            comment(f'{{"$match": {{"n": {{"$ne": ObjectId("65a000000000000000000001")}}}}}}, {SORTED}'),
            comment(f'{{"$match": {{"n": {{"$ne": {{"$oid": "65a000000000000000000001"}}}}}}}}, {SORTED}'),
        ),
        (
            comment(f'{{"$match": {{"n": {{"$not": /it(s)?/i}}}}}}, {SORTED}'),
            comment(
                '{"$match": {"n": {"$not": {"$regularExpression": {"pattern": "it(s)?", "options": "i"}}}}}, '
                f"{SORTED}"
            ),
        ),
        (comment("{$sort: {n: 1}}"), comment(SORTED)),
        (comment("{'$sort': {\"n\": 1}}"), comment(SORTED)),
        (comment('{"$sort": {"n": 1,}}'), comment(SORTED)),
        *(
            (
                comment(
                    f'{{"$set": {{"n": {{"$map": {{"input": "$deep", "as": "one", "in": {wrong}}}}}}}}}, {SORTED}'
                ),
                comment(
                    f'{{"$set": {{"n": {{"$map": {{"input": "$deep", "as": "one", "in": {right}}}}}}}}}, {SORTED}'
                ),
            )
            for wrong, right in (
                ('"$$oen.name"', '"$$one.name"'),
                ('{"$ifNull": ["$$oen.name", 0]}', '{"$ifNull": ["$$one.name", 0]}'),
                ('{"$ifNull": ["$$oen", 0]}', '{"$ifNull": ["$$one", 0]}'),
            )
        ),
        (comment(SORTED).replace("-->", "--!>"), comment(SORTED)),
        (comment(SORTED)[: -len(" -->")], comment(SORTED)),
        (
            comment(SORTED).replace('["N"]', '["N --> M"]'),
            comment(SORTED).replace('["N"]', r'["N --\u003e M"]'),
        ),
        (comment('{"$sort": {"n" = 1}}'), comment('{"$sort": {"n" : 1}}')),
        (
            comment(f'{{"$set": {{"m": True}}}}, {SORTED}', '["n", "m"]').replace('["N"]', '["N", "M"]'),
            comment(f'{{"$set": {{"m": true}}}}, {SORTED}', '["n", "m"]').replace('["N"]', '["N", "M"]'),
        ),
    ],
)
def test_the_hint_of_a_finding_is_a_rewrite(wrong: str, right: str, judge) -> None:
    for before, after in (("", "\n"), ("\ufeff# Runs\r\n\r\n", "\r\n"), ("# É 🙂\n\n", "")):
        text, found = before + wrong + after, judge(before + wrong + after)
        files = mend({FILE: text}, found, lambda texts: judge(texts[FILE]))
        assert files[FILE] == before + right + after
        assert any(one != text for one in all_done(text, found))


@pytest.mark.parametrize(
    ("quoting", "wrong", "right"),
    [
        ('VALUE: {"table": "t", "column": "n", "where": {"_id": "%s"}}', "serch", "search"),
        ('VALUE: {"table": "t", "column": "n", "where": {"%s": "search"}}', "id", "_id"),
        ('CHECK: {"table": "t", "where": {"_id": "%s"}, "expect": {"n": 2}}', "serch", "search"),
        ('CHECK: {"table": "t", "expect": {"%s": 2}}', "nn", "n"),
    ],
)
def test_a_mistyped_name_in_a_query_on_rows_is_mended(
    quoting: str, wrong: str, right: str, tmp_path: Path, judge
) -> None:
    (tmp_path / "runs" / "a.jsonl").write_text('{"_id": "search", "n": 2}\n')
    table = comment(SORTED, '["_id", "n"]').replace('"headers": ["N"]', '"headers": ["I", "N"], "id": "t"')
    text, meant = (f"{table}\n\nIt is <!-- MONGO_{quoting % word} -->.\n" for word in (wrong, right))
    assert mend({FILE: text}, judge(text), lambda texts: judge(texts[FILE])) == {FILE: meant}


def test_a_value_that_a_shell_takes_from_its_machine_is_not_mended(judge) -> None:
    text = comment(f'{{"$match": {{"n": {{"$ne": new Date(2026, 1)}}}}}}, {SORTED}')
    (finding,) = judge(text)
    assert rewrites_of(finding, text) == ()


@pytest.mark.parametrize(
    ("place", "hint", "text"),
    [
        ((1, 1), "did you mean `$sum`?", '{"$summ": 1}'),  # no string begins there
        ((1, 2), "did you mean `$sum`?", '{"$avg": 1}'),  # another word
        ((1, 2), "did you mean `ab`?", '["abc.abd"]'),  # two words are near
        ((1, 2), "did you mean `a-->b`?", '["a->b"]'),  # it would end the comment
        ((1, 2), 'did you mean `a"b`?', '["a_b"]'),
        ((9, 1), "did you mean `$sum`?", '"$summ"'),  # no such line
        ((0, 0), "did you mean `$sum`?", '"$summ"'),
        ((1, 1), "write more", "{}"),
    ],
)
def test_where_it_is_not_certain_what_is_meant_there_is_no_rewrite(
    place: tuple[int, int], hint: str, text: str
) -> None:
    assert rewrites_of(Finding(FILE, *place, "MT301", "error", "", hint), text) == ()


@pytest.mark.parametrize(
    ("hint", "text"),
    [
        ("write it as for example 12, -0.5 or 1e6", "1e"),
        ('write it in double quotes: "…"', "'a"),
        ("write 5", "["),
    ],
)
def test_what_is_no_json_and_has_no_certain_end_or_meaning_has_no_rewrite(hint: str, text: str) -> None:
    assert rewrites_of(Finding(FILE, 1, 1, "MT120", "error", "", hint), text) == ()


@pytest.mark.parametrize(
    ("written", "meant", "right"),
    [
        ("$a.bb.c", "a.b", "$a.b.c"),
        ("$$this.lenght", "length", "$$this.length"),
        ("-speedd", "speed", "-speed"),
        ("_id.testnam", "_id.testname", "_id.testname"),
        ("$dateAd", "$dateAdd", "$dateAdd"),
    ],
)
def test_of_a_path_as_many_names_are_replaced_as_were_meant(written: str, meant: str, right: str) -> None:
    found = Finding(FILE, 1, 1, "MT402", "warning", "", f"did you mean `{meant}`?")
    (rewrite,) = rewrites_of(found, f'"{written}"')
    assert apply_edits(f'"{written}"', rewrite.edits) == f'"{right}"'


def test_places_are_counted_as_findings_count_them() -> None:
    text = "\ufeffab\r\ncd\ref\n"
    assert [find_offset(text, *at) for at in ((1, 1), (1, 3), (2, 1), (3, 2), (4, 1))] == [1, 3, 5, 9, 11]
    assert find_offset(text, 5, 1) is None


def test_edits_are_made_as_if_at_once() -> None:
    assert (
        apply_edits("abcdef", [TextChange(0, 1, "xyz"), TextChange(3, 3, "-"), TextChange(5, 6, "")])
        == "xyzbc-de"
    )


def test_a_rewrite_by_which_its_finding_does_not_go_is_not_made_and_others_are() -> None:
    text = '["$summ", "$avgg"]'
    stubborn = Finding(FILE, 1, 2, "MT301", "error", "there is no '$summ'", "did you mean `$sum`?")
    mended = Finding(FILE, 1, 11, "MT301", "error", "there is no '$avgg'", "did you mean `$avg`?")

    def judge(texts: Mapping[str, str]) -> list[Finding]:
        return [stubborn, *([mended] if "$avgg" in texts[FILE] else [])]

    assert mend({FILE: text}, judge({FILE: text}), judge) == {FILE: '["$summ", "$avg"]'}


def test_syntax_is_mended_only_in_comments_that_are_json_after_it(judge) -> None:
    broken = '<!-- MONGO_TABLE: {"collection": runs, "columns": ["n", "headers": ["N",]} -->'
    hidden = '<!-- MONGO_TABLE: {"collection": runs, "columns" = ["n"], "headers" ["N"]} -->'
    for whole in (
        '{"collection": runs", "columns" = ["n"], "headers": ["N"],}',
        "{'collection': runs, columns: ['n']}",
    ):
        text = f"{broken}\n\n<!-- MONGO_TABLE: {whole} -->\n\n{hidden}\n"
        first, second, third = mend({FILE: text}, judge(text), lambda texts: judge(texts[FILE]))[FILE].split(
            "\n\n"
        )
        assert (first, third) == (broken, f"{hidden}\n")
        assert json.loads(second[len("<!-- MONGO_TABLE: ") : -len(" -->")])["collection"] == "runs"


@pytest.mark.parametrize(
    ("written", "meant"), [("$less", ""), ("$lts", "$lt"), ("$gtee", "$gte"), ("$tl", "")]
)
def test_a_name_is_replaced_only_by_one_that_is_a_slip_away(written: str, meant: str, judge) -> None:
    text = comment(f'{{"$match": {{"n": {{"{written}": 2}}}}}}, {SORTED}')
    mended = mend({FILE: text}, judge(text), lambda texts: judge(texts[FILE]))[FILE]
    assert mended == text.replace(written, meant or written)


def test_two_names_that_are_equally_near_are_both_suggested_and_none_is_written(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "a.jsonl").write_text('{"_id": 1, "p50": 2, "p90": 3}\n')
    text = comment('{"$match": {"p60": 2}}', '["p50"]')
    findings = report_on(Answers(str(tmp_path)), read_page(text, FILE, lambda _: None)).findings
    assert any(one.hint.startswith("did you mean `p50` or `p90`?") for one in findings), findings
    assert not any(all_done(text, findings))
