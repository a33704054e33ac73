"""What is pasted from mongosh or Compass: one finding a value, whose hint is the same value in Extended JSON."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta
from typing import Any

import pytest
from bson import Binary, Decimal128, Int64, MaxKey, MinKey, ObjectId, Regex
from hypothesis import given, settings
from hypothesis import strategies as st

from mongo_tables.findings.finding import Complaint
from mongo_tables.jsontext.extended import decode, of_shell_call
from mongo_tables.jsontext.reader import parse

PASTED: dict[str, Any] = {
    'ISODate("2026-01-01")': datetime(2026, 1, 1),
    "ISODate('2026-01-01T10:20:30.456Z')": datetime(2026, 1, 1, 10, 20, 30, 456000),
    'ISODate("2026-01-31 10:20")': datetime(2026, 1, 31, 10, 20),
    'new ISODate("2026-01-01T00:00:00+02:00")': datetime(2025, 12, 31, 22),
    'new Date("2026-01-01")': datetime(2026, 1, 1),
    'ObjectId("65f0c0ffee0000000000abcd")': ObjectId("65f0c0ffee0000000000abcd"),
    'NumberLong("9007199254740993")': Int64(9007199254740993),
    "NumberLong(5)": Int64(5),
    'Long.fromString("-5")': Int64(-5),
    "NumberInt(7)": 7,
    'NumberInt("7")': 7,
    'NumberDecimal("1.50")': Decimal128("1.50"),
    'Decimal128("NaN")': Decimal128("NaN"),
    'UUID("00112233-4455-6677-8899-aabbccddeeff")': Binary(
        bytes.fromhex("00112233445566778899aabbccddeeff"), 4
    ),
    r"/^M\d+[/]$/i": Regex(r"^M\d+[/]$", "i"),
    "MinKey()": MinKey(),
    "MaxKey": MaxKey(),
    "Infinity": float("inf"),
    "-Infinity": float("-inf"),
    "undefined": None,
    r"'it\'s \"so\"'": 'it\'s "so"',
}


def meant(problem: Complaint[int]) -> str:
    """The JSON that a hint says to write, a wrapper rather than null where it offers both."""
    wrapper = re.search(r'\{"\$.*\}', problem.hint)
    if wrapper:
        return wrapper[0]
    found = re.match(r'write (?:`(?P<marked>[^`]+)`|(?P<plain>".*?(?<!\\)"))', problem.hint)
    assert found, problem
    return found["marked"] or found["plain"]


@pytest.mark.parametrize("text", PASTED)
def test_a_pasted_value_gives_one_finding_whose_hint_is_what_mongosh_means(text: str) -> None:
    body = f'{{"before": 1, "pasted": {text}, "after": [2, {text}]}}'
    reading = parse(body)
    assert [problem.at for problem in reading.problems] == [body.index(text), body.rindex(text)]
    for problem in reversed(reading.problems):
        body = body[: problem.at] + meant(problem) + body[problem.at + len(text) :]
    mended = parse(body)
    assert mended.problems == ()
    values, malformed = decode(mended.value)
    assert malformed == []
    expected = PASTED[text]
    assert values == {"before": 1, "pasted": expected, "after": [2, expected]}
    assert type(values["pasted"]) is type(expected)


def test_a_whole_pasted_comment_tells_all_its_faults_in_one_run() -> None:
    text = """{
      collection: 'r', // ours
      pipeline: [{ $match: { at: { $gte: ISODate("2026-01-01") }, name: /^a(b)/i, of: ObjectId("65f0c0ffee0000000000abcd") } },],
      n: NumberInt(foo(1)), x: NaN,
    }"""
    reading = parse(text)
    said = [problem.message for problem in reading.problems]
    assert sum("has no quotes" in one for one in said) == 9
    assert sum("has no quotes" not in one for one in said) == 9
    assert len(set(reading.problems)) == len(said)


@pytest.mark.parametrize(
    "text", ["foo(1)", 'ObjectId("x")', "new Date(a.b)", 'ISODate("13 May")', "NumberInt(1.5)"]
)
def test_a_call_whose_value_nobody_knows_is_told_once_and_reading_goes_on(text: str) -> None:
    reading = parse(f'{{"a": {text}, "b": 1,}}')
    first, second = reading.problems
    assert "Extended JSON" in first.hint
    assert "comma" in second.message


@settings(max_examples=150, deadline=None)
@given(st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)), st.integers(-14 * 60, 14 * 60))
def test_every_date_of_a_shell_is_the_same_moment_in_extended_json(moment: datetime, minutes: int) -> None:
    moment = moment.replace(microsecond=moment.microsecond // 1000 * 1000)
    local = moment + timedelta(minutes=minutes)
    zone = f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"
    if not 1 <= local.year <= 9999:
        return
    written = of_shell_call("ISODate", json.dumps(local.isoformat(timespec="milliseconds") + zone))
    assert written is not None
    assert decode(written) == (moment, [])


@settings(max_examples=150, deadline=None)
@given(
    st.text(alphabet=st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="'\\"), max_size=20)
)
def test_a_text_in_single_quotes_is_hinted_at_whole(text: str) -> None:
    (problem,) = parse(f"['{text}']").problems
    assert json.loads(problem.hint.removeprefix("write ")) == text


def test_a_day_in_a_date_wrapper_is_hinted_at_with_its_time() -> None:
    _, (malformed,) = decode({"at": {"$date": "2026-05-04"}})
    assert malformed.hint == 'write {"$date": "2026-05-04T00:00:00Z"}'


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("NumberInt", "3000000000"), ("NumberDecimal", '"."'), ("ISODate", '"2026-02-30"')],
)
def test_a_call_that_no_value_can_be_written_for_has_no_hint_that_check_would_refuse(
    name: str, arguments: str
) -> None:
    assert of_shell_call(name, arguments) is None
