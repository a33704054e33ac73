"""The JSON reader finds every fault where it stands, and reads what is sound exactly as ``json`` does."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mongo_tables.jsontext import MAX_DEPTH
from mongo_tables.jsontext.reader import parse

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=("Cs",)))
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)
LAYOUTS = st.sampled_from([{}, {"indent": 2}, {"separators": (",", ":")}, {"ensure_ascii": False}])

# A text, and for each problem of it: the text from the place that it points at, and words of its message.
FAULTS = {
    "trailing comma in an object": ('{"a": 1,}', [(",}", "comma before `}`")]),
    "trailing comma in a list": ('{"a": [1, 2,\n]}', [(",\n]", "comma before `]`")]),
    "two commas": ("[1,,2]", [(",2", "no element before")]),
    "comma first": ("[,1]", [(",1", "no element before")]),
    "missing comma, same line": ('{"a": 1 "b": 2}', [(' "b"', "comma is missing")]),
    "missing comma, line end": ('{"a": 1\n"b": 2}', [('\n"b"', "comma is missing")]),
    "missing comma in a list": ('[{"a": 1}{"b": 2}]', [('{"b"', "comma is missing")]),
    "unquoted keys": ("{a: 1, $b: 2}", [("a:", "key `a` has no quotes"), ("$b", "key `$b` has no quotes")]),
    "single quotes": ("{'a': 'b'}", [("'a'", "single quotes"), ("'b'", "single quotes")]),
    "typographic quotes": ("{“a”: 1}", [("“a”", "expected a key, not `“`")]),
    "typographic quotes of a value": ("[“a”]", [("“a”", "`“a”` is not a JSON value")]),
    "line comment": ('{"a": 1 // one\n}', [("// one", "no comments")]),
    "block comment": ('/* x */ {"a": 1}', [("/* x", "no comments")]),
    "NaN": ('{"a": NaN}', [("NaN", "`NaN` is not a JSON number")]),
    "Infinity": ("[Infinity, -Infinity]", [("Inf", "`Infinity`"), ("-Inf", "`-Infinity`")]),
    "Python constants": ("[True, None]", [("True", "`True`"), ("None", "`None`")]),
    "text without quotes": ('{"a": hello}', [("hello", "`hello` has no quotes")]),
    "leading zero": ("[01]", [("01", "not a JSON number")]),
    "no digit before the point": ("[.5]", [(".5", "not a JSON number")]),
    "no digit after the point": ("[1.]", [("1.]", "not a JSON number")]),
    "plus sign": ("[+1]", [("+1", "not a JSON number")]),
    "hexadecimal": ("[0x1F]", [("0x1F", "has no quotes")]),
    "date without quotes": ("[2026-01-31]", [("2026", "has no quotes")]),
    "huge exponent": ("[1e999]", [("1e999", "too big")]),
    "huge integer": ("[" + "9" * 310 + "]", [("9" * 310, "too big")]),
    "unknown escape": (r'["\d+"]', [(r"\d+", "not an escape of JSON")]),
    "short unicode escape": (r'["\u12"]', [(r"\u12", "four hexadecimal digits")]),
    "lone surrogate": (r'["\ud800x"]', [(r"\ud800", "half of a character")]),
    "two high surrogates": (r'["\ud800\ud800"]', [(r"\ud800\ud800", "half")]),
    "tab in a string": ('["a\tb"]', [("\tb", "U+0009 must be escaped")]),
    "null character in a string": ('["a\x00b"]', [("\x00b", "U+0000 must be escaped")]),
    "string not closed": ('{"a": "b\n}', [('"b\n', "not closed")]),
    "string not closed at the end": ('["b', [('"b', "not closed")]),
    "stray quote": ('{"a": "x "y" z"}', [('y" z', "expected `,` or `}`, not `y`")]),
    "two stray quotes": ('["say ""hi"" there"]', [('"hi', 'expected `,` or `]`, not `"`')]),
    "missing value": ('{"a": , "b": 1}', [(', "b"', "value is missing")]),
    "key without value": ('{"a"}', [("}", "value is missing")]),
    "missing colon": ('{"a" 1}', [(" 1}", "colon is missing")]),
    "equals sign": ('{"a" = 1}', [("= 1", "expected a colon, not `=`")]),
    "wrong bracket": ('{"a": [1, 2}', [("}", "expected `]` for the `[` before it, not `}`")]),
    "object not closed": ('{"a": 1', [('{"a"', "this `{` is never closed")]),
    "bracket too many": ('{"a": 1}}', [("}", "has no opening bracket")]),
    "text after the value": ('{"a": 1} and more', [("and more", "there is text after the end")]),
    "a list's end first": ("]", [("]", "has no opening bracket")]),
    "nothing": ("", [("", "no JSON here")]),
    "no-break space": ('{"a":\u00a01}', [("\u00a01", "invisible character (U+00A0)")]),
    "byte order mark": ("\ufeff[1]", [("\ufeff[", "invisible character (U+FEFF)")]),
    "duplicate key": ('{"a": 1, "a": 2}', [('"a": 2', "with different values")]),
    "repeated key": ('{"a": 1, "a": 1}', [('"a": 1}', "with the same value")]),
    "duplicate key by escape": (r'{"a": 1, "\u0061": 2}', [(r'"\u0061"', "`a` is given twice")]),
    "duplicate key of another type": ('{"a": 1, "a": 1.0}', [('"a": 1.0', "with different values")]),
    "several at once": (
        '{"a": [1,], b: NaN, "c": 01 "d": 1, "d": 2}',
        [
            (",]", "comma"),
            ("b:", "no quotes"),
            ("NaN", "not a JSON number"),
            ("01", "number"),
            (' "d": 1', "missing"),
            ('"d": 2', "twice"),
        ],
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_every_fault_is_told_once_at_its_exact_place(name):
    text, expected = FAULTS[name]
    problems = parse(text).problems
    assert len(problems) == len(expected), problems
    for problem, (rest, words) in zip(problems, expected, strict=True):
        assert text[problem.at :].startswith(rest), (problem, text[problem.at :])
        assert words in problem.message
        assert problem.hint


@pytest.mark.parametrize(
    ("text", "hint"),
    [("[01]", "write 1"), ("[.5]", "write 0.5"), ("[1.]", "write 1.0"), ("[True]", "write `true`"),
     ("['x']", 'write "x"'), ("{a: 1}", 'write "a"'), ("[007]", "write 7"), ("[Infinity]", 'write null, or {"$numberDouble": "Infinity"}'),
     ('["\t"]', "write \\t")],
)  # fmt: skip
def test_a_hint_says_what_to_write_instead(text, hint):
    assert parse(text).problems[0].hint == hint


def test_the_last_of_two_equal_keys_wins_as_in_every_parser():
    parsed = parse('{"a": 1, "b": 2, "a": 3}')
    assert parsed.value == json.loads(parsed.text)


def test_nesting_ends_at_the_limit_and_far_beyond_it_nothing_breaks():
    def nested(depth):
        return "[" * depth + "]" * depth

    assert not parse(nested(MAX_DEPTH)).problems
    for depth in (MAX_DEPTH + 1, 100_000):
        (problem,) = parse(nested(depth)).problems
        assert (problem.at, problem.message) == (MAX_DEPTH, "the nesting is too deep")


def test_integers_keep_all_their_digits():
    assert parse("[9007199254740993, -0, 123456789012345678901234567890]").value == [
        9007199254740993,
        0,
        123456789012345678901234567890,
    ]


def same(left, right):
    """Whether two JSON values are equal, including type and key order (1, 1.0 and true all differ)."""
    return repr(left) == repr(right)


@given(VALUES, LAYOUTS)
@settings(max_examples=150, deadline=None)
def test_sound_json_is_read_as_json_does(value, layout):
    parsed = parse(json.dumps(value, **layout))
    assert not parsed.problems
    assert same(parsed.value, value)


@given(VALUES, LAYOUTS, st.data())
@settings(max_examples=300, deadline=None)
def test_a_text_has_a_fault_exactly_if_it_is_not_sound_whatever_is_done_to_it(value, layout, data):
    text = json.dumps(value, **layout)
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = start + data.draw(st.integers(0, 2))
        text = (
            text[:start]
            + data.draw(st.text("{}[],:\"\\ \n-+.0159eEaNu/*'\ud800\u00a0", max_size=2))
            + text[end:]
        )
    parsed = parse(text)
    assert all(0 <= problem.at <= len(text) for problem in parsed.problems)
    if not parsed.problems:
        assert same(parsed.value, json.loads(text))
    elif all(problem.rule == "MT120" for problem in parsed.problems):
        assert not _strictly_sound(text), parsed.problems


def _strictly_sound(text: str) -> bool:
    def refuse(token):
        raise ValueError(token)

    def whole(token):
        return int(token) if abs(float(token)) != float("inf") else refuse(token)

    def broken(token):
        return float(token) if abs(float(token)) != float("inf") else refuse(token)

    try:
        value = json.loads(text, parse_constant=refuse, parse_int=whole, parse_float=broken)
        json.dumps(value, ensure_ascii=False).encode()
    except ValueError:
        return False
    return True


@given(VALUES, LAYOUTS)
@settings(max_examples=100, deadline=None)
def test_every_value_and_key_is_found_where_it_stands(value, layout):
    parsed = parse(json.dumps(value, **layout))
    decoder = json.JSONDecoder()
    for path, offset in parsed.positions.items():
        here = value
        for part in path:
            here = here[part]
        assert same(decoder.raw_decode(parsed.text, offset)[0], here)
    for path, offset in parsed.key_positions.items():
        assert decoder.raw_decode(parsed.text, offset)[0] == path[-1]


SOUND = """{
  "id": "one",
  "collection": "r",
  "format": {
    "n": {"decimals": 1}
  },
  "let": {"a": 1},
  "pipeline": [
    {"$match": {"a": {"$gt": 1}}},
    {"$group": {
      "_id": {"k": "$k"},
      "n": {"$sum": 1}
    }},
    {"$sort": {"_id": 1}}
  ],
  "columns": ["a", "n"],
  "headers": ["A", "N"]
}"""


@pytest.mark.parametrize("at", [n for n, char in enumerate(SOUND[:-1]) if char in '{}[]"'])
def test_one_missing_bracket_or_quote_is_told_once_with_what_is_missing(at):
    (problem,) = parse(SOUND[:at] + SOUND[at + 1 :]).problems
    assert SOUND[at] in problem.hint


def test_a_colon_within_a_time_without_quotes_makes_no_key_of_it():
    assert "has no quotes" in parse("[2026-01-31T12:30:00Z]").problems[0].message
