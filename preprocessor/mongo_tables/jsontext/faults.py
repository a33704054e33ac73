"""The search for faults in a JSON text. It describes them in plain words, with hints.

After a fault such as a missing comma, the meaning of the rest of the text is clear, so the search continues. After
other faults it stops.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from typing import Any, Final, NoReturn

from mongo_tables.findings.finding import Complaint
from mongo_tables.jsontext import MAX_DEPTH
from mongo_tables.jsontext.extended import of_regular_expression, of_shell_call
from mongo_tables.jsontext.tokens import CLOSERS, Token, Tokens, unquote

SYNTAX: Final = "MT120"
_DUPLICATE: Final = "MT121"
_REPEATED: Final = "MT122"


def find_faults(text: str, tokens: Tokens) -> list[Complaint[int]]:
    """Return the faults of a text in the order of their offsets."""
    return _FaultFinder(text).find(tokens)


class _Stop(Exception):
    """The search cannot continue, because the meaning of the rest of the text is unclear."""


_BLANK = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_NAME = re.compile(r"[\w$][\w$.-]*")
_CALL = re.compile(r"(?P<name>[^(]+)\((?P<arguments>.*)\)")
_EXPRESSION = re.compile(r"/(.+)/([a-z]*)")
_CLOSED_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_SOUND_PART = re.compile(
    r'(?:[^"\\\x00-\x1f\ud800-\udfff]|\\["\\/bfnrt]|\\u(?![dD][89a-fA-F])[0-9a-fA-F]{4}'
    r"|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})*"
)
_HALF = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}|[\ud800-\udfff]")
_COLON = re.compile(r"\s*:\s*")
_SWALLOWING = re.compile(r'".*[,:{\[]\s*"')
_CONSTANTS: Final = ("true", "false", "null")
_MEANT: Final = {"True": "true", "False": "false", "None": "null", "undefined": "null"}
_FITTING: Final = {
    "key": ("key",),
    "colon": ("colon",),
    "value": ("open", "string", "number", "word"),
    "comma": ("comma",),
}
"""The kinds of tokens that are valid where a text expects a key, a colon, a value or a comma. ``judge_closer`` checks
closing brackets."""


class _FaultFinder:
    def __init__(self, text: str) -> None:
        self.text = text
        self.problems: list[Complaint[int]] = []
        self.open: list[tuple[int, dict[str, Token]]] = []
        """The offset of each open bracket, with the keys of its object so far."""
        self.last: Token | None = None
        self.surplus: dict[str, int] = {}
        """For each kind of bracket, the number of opening minus closing brackets in the whole text."""

    def find(self, tokens: Tokens) -> list[Complaint[int]]:
        count = Counter(self.text[one.start] for one in tokens.found)
        self.surplus = {opener: count[opener] - count[closer] for opener, closer in CLOSERS.items()}
        end = 0
        try:
            for token in tokens.found:
                self.judge_gap(end, token.start)
                end = token.end
                if token.kind == "skipped" and self.text[token.start] == "/":
                    hint = f"remove the text that begins with `{self.text[token.start : token.start + 2]}`"
                    self.add(token.start, "JSON has no comments", hint)
                    continue
                self.judge_place(token)
                self.judge_content(token)
                self.last = token
            self.judge_gap(end, len(self.text))
            self.judge_end(end)
        except _Stop:
            pass
        return sorted(self.problems, key=lambda one: (one.at, one.message))

    def add(self, offset: int, message: str, hint: str, rule: str = SYNTAX) -> None:
        self.problems.append(Complaint(message, hint, offset, rule))

    def stop(self, offset: int, message: str, hint: str) -> NoReturn:
        self.add(offset, message, hint)
        raise _Stop

    def judge_gap(self, start: int, end: int) -> None:
        """Report a character between two tokens that is not white space in JSON."""
        blank = _BLANK.match(self.text, start, end)
        at = blank.end() if blank else start
        if at < end and self.text[at] == ">":
            self.stop(at, "there is a `>` outside a string", "remove it, or write it in a string")
        if at < end:
            message = f"there is an invisible character (U+{ord(self.text[at]):04X}) here"
            self.add(at, message, "replace it by a plain blank")

    def judge_end(self, end: int) -> None:
        if self.last is None:
            self.stop(end, "there is no JSON here", 'write an object: { "key": value, … }')
        if self.open:
            opener = self.open[-1][0]
            bracket = self.text[opener]
            self.stop(opener, f"this `{bracket}` is never closed", f"add the missing `{CLOSERS[bracket]}`")

    # -- the place of a token --

    def judge_place(self, token: Token) -> None:
        first = self.text[token.start]
        if self.last and token.kind in ("key", "word") and token.start == self.last.end:
            self.judge_string_before(self.last)
        if first in "}]":
            self.judge_closer(token)
        elif token.kind in ("string", "word") and self.is_key(token):
            self.stop_at_key(token)
        elif token.awaited == "end":
            message = "there is text after the end of the JSON value"
            self.stop(token.start, message, "remove it, or move the closing bracket behind it")
        elif token.kind in _FITTING[token.awaited]:
            pass
        elif token.awaited == "comma":
            self.judge_missing_comma(token)
        elif first == "," and self.last is not None and self.last.kind in ("open", "comma"):
            self.add(token.start, "there is no element before this comma", "remove the comma")
        elif first == "," and self.last is not None:
            self.stop_without_value(token)
        elif token.awaited == "colon":
            self.stop_without_colon(token)
        elif token.awaited == "key":
            self.stop_if_list_began()
            hint = 'write "key": value, or add a missing `}` before it'
            self.stop(token.start, f"expected a key, not `{first}`", hint)
        else:
            hint = 'write strings in double quotes: "…"'
            self.stop(token.start, f"a JSON value cannot begin with `{first}`", hint)

    def judge_closer(self, token: Token) -> None:
        closer = self.text[token.start]
        if not self.open or self.last is None:
            message = f"this `{closer}` has no opening bracket"
            self.stop(token.start, message, "remove it, or add the opening bracket")
        opener = self.text[self.open[-1][0]]
        if closer != CLOSERS[opener]:
            if closer == "]":
                self.stop_if_list_began()
            message = f"expected `{CLOSERS[opener]}` for the `{opener}` before it, not `{closer}`"
            surplus = self.surplus["{" if closer == "}" else "["] < 0
            hint = f"replace it by `{CLOSERS[opener]}`" if surplus else f"add `{CLOSERS[opener]}` before it"
            self.stop(token.start, message, hint if self.surplus[opener] > 0 else "remove it")
        comma = self.last.start
        if self.last.kind == "comma" and not any(one.at == comma for one in self.problems):
            self.add(comma, f"there is a comma before `{closer}`", "remove the comma")
        elif self.last.kind in ("key", "colon"):
            self.stop_without_value(token)
        self.open.pop()

    def judge_string_before(self, string: Token) -> None:
        """Report a string without a closing quote. It seems to end at the next quote, directly before a word."""
        if _SWALLOWING.fullmatch(self.text, string.start, string.end):
            hint = 'close it with `"`; a quote inside a string is written \\"'
            self.stop(string.start, "the string that begins here is not closed", hint)

    def is_key(self, value: Token) -> bool:
        """Return whether a value outside an object is probably a key, because a colon follows it.

        A word before a colon may also be a time without quotes, so it counts only if brackets are missing.
        """
        likely = value.kind == "string" or any(self.surplus.values())
        return likely and bool(_COLON.match(self.text, value.end))

    def stop_at_key(self, token: Token) -> NoReturn:
        """Report a missing `{` before a key or, if a list before it is not closed, a missing `]`."""
        key = unquote(self.text[token.start : token.end])
        opener = self.open[-1][0] if self.open else token.start
        if self.text[opener] == "[" and self.surplus["["] > 0:
            self.stop(opener, "this `[` is never closed", f"add the missing `]` before the key `{key}`")
        self.stop(token.start, "a `{` is missing here", f"add `{{` before the key `{key}`")

    def stop_if_list_began(self) -> None:
        """Report a missing `[` if the last value of the object seems to continue as a list."""
        keys = self.open[-1][1].values()
        members = [(one, colon.end()) for one in keys if (colon := _COLON.match(self.text, one.end))]
        if self.surplus["["] < 0 and members and not self.text.startswith("[", members[-1][1]):
            key, at = members[-1]
            self.stop(at, "a `[` is missing here", f"add `[` before the value of `{key.path[-1]}`")

    def judge_missing_comma(self, token: Token) -> None:
        """Report a missing comma.

        Stop if no element clearly begins here, because a quote inside a string may have ended the string.
        """
        assert self.last is not None
        first, closer = self.text[token.start], CLOSERS[self.text[self.open[-1][0]]]
        between = self.text[self.last.end : token.start]
        begins = first == '"' or (first in "{[" and closer == "]") or "\n" in between
        stray = not between and first == self.text[self.last.start] == '"'
        if stray or not begins or first in ":=;":
            message = f"expected `,` or `{closer}`, not `{first}`"
            hint = 'separate elements by a comma; a quote inside a string is written \\"'
            self.stop(token.start, message, hint)
        self.add(self.last.end, "a comma is missing here", "write a comma")

    def stop_without_value(self, token: Token) -> NoReturn:
        self.stop_if_list_began()
        message = f"a value is missing before `{self.text[token.start]}`"
        self.stop(token.start, message, "write the value, for example null")

    def stop_without_colon(self, token: Token) -> NoReturn:
        assert self.last is not None
        if self.text[token.start] == "=":
            self.stop(token.start, "expected a colon, not `=`", "write a colon")
        key = unquote(self.text[self.last.start : self.last.end])
        message = f"a colon is missing after the key `{key}`"
        self.stop(self.last.end, message, f'write "{key}": and the value')

    # -- the content of a token --

    def judge_content(self, token: Token) -> None:
        written = self.text[token.start : token.end]
        if token.kind == "open":
            if len(token.path) >= MAX_DEPTH:
                limit = f"MongoDB allows at most {MAX_DEPTH} levels"
                self.stop(token.start, "the nesting is too deep", limit)
            self.open.append((token.start, {}))
        elif written[0] == '"':
            self.judge_string(token.start, written)
        elif written[0] == "'":
            self.judge_other_quotes(token.start, written)
        elif token.kind == "key":
            name = unquote(written)
            if not _NAME.fullmatch(name):
                self.stop(token.start, f"expected a key, not `{written[0]}`", 'write "key": value')
            missing = "quotes" if name == written else "first quote"
            self.add(token.start, f"the key `{written}` has no {missing}", f'write "{name}"')
        elif token.kind in ("number", "word"):
            self.judge_word(token.start, written)
        if token.kind == "key":
            self.judge_repetition(token, self.open[-1][1])

    def judge_repetition(self, token: Token, keys: dict[str, Token]) -> None:
        key = str(token.path[-1])
        earlier = keys.get(key)
        keys[key] = token
        if earlier is None:
            return
        message, hint = f"the key `{key}` is given twice", "remove one of the two"
        try:
            same = repr(self.value_of(earlier)) == repr(self.value_of(token))
        except (ValueError, RecursionError):
            return  # A fault in one of the values is reported.
        if same:
            self.add(token.start, f"{message}, with the same value", hint, _REPEATED)
        else:
            message = f"{message}, with different values: only the last would count"
            self.add(token.start, message, f"{hint}, or rename it", _DUPLICATE)

    def value_of(self, key: Token) -> Any:
        """Return the value after a key. Raises ``ValueError`` if it is not JSON."""
        colon = _COLON.match(self.text, key.end)
        return json.JSONDecoder().raw_decode(self.text, colon.end() if colon else key.end)[0]

    def judge_string(self, start: int, written: str) -> None:
        """Report the first fault of a string."""
        if not _CLOSED_STRING.fullmatch(written):
            hint = 'close it with `"` on the same line; a line break inside a string is written \\n'
            self.stop(start, "the string that begins here is not closed", hint)
        sound = _SOUND_PART.match(written, 1)
        at = sound.end() if sound else 1
        odd = written[at:-1]
        if not odd:
            return
        if half := _HALF.match(odd):
            message = (
                f"`{json.dumps(half[0])[1:-1] if len(half[0]) == 1 else half[0]}` is half of a character"
            )
            self.add(start + at, message, "write the character itself, or both halves of the surrogate pair")
        elif odd.startswith("\\u"):
            self.add(start + at, "`\\u` needs four hexadecimal digits", "write for example \\u00e9")
        elif odd[0] == "\\":
            message = f"`{odd[:2]}` is not an escape of JSON"
            self.add(start + at, message, "a backslash itself is written \\\\")
        else:
            escape = json.dumps(odd[0])[1:-1]
            message = f"the character U+{ord(odd[0]):04X} must be escaped in a string"
            self.add(start + at, message, f"write {escape}")

    def judge_other_quotes(self, start: int, written: str) -> None:
        message = "a string needs double quotes, not single quotes"
        if len(written) < 2 or written[-1] != "'":
            self.stop(start, message, 'write it in double quotes: "…"')
        escapes = {r"\'": "'", '"': r"\""}
        inner = re.sub(r'\\.|"', lambda found: escapes.get(found[0], found[0]), written[1:-1])
        self.add(start, message, "write " + json.dumps(unquote(f'"{inner}"'), ensure_ascii=False))

    def judge_word(self, start: int, written: str) -> None:
        if _NUMBER.fullmatch(written):
            if math.isinf(float(written)):
                shown = written if len(written) < 24 else written[:20] + "…"
                self.add(start, f"the number `{shown}` is too big", "the largest double is about 1.8e308")
        elif written not in _CONSTANTS:
            self.add(start, *_explain_word(written))


def _explain_word(written: str) -> tuple[str, str]:
    if written.endswith('"'):
        hint = f"write {json.dumps(unquote(written), ensure_ascii=False)}"
        return f"the string `{written}` has no first quote", hint
    if written in _MEANT:
        return f"`{written}` is not JSON", f"write `{_MEANT[written]}`"
    if expression := _EXPRESSION.fullmatch(written):
        value = of_regular_expression(expression[1], expression[2])
        hint = f"write {json.dumps(value, ensure_ascii=False)}"
        return "a regular expression between slashes is not JSON", hint
    call = _CALL.fullmatch(written)
    name, arguments = (call["name"].rstrip(), call["arguments"]) if call else (written, "")
    value = of_shell_call(name, arguments)
    if value is not None:
        return f"`{written}` is how a shell writes a value", f"write {json.dumps(value, ensure_ascii=False)}"
    if call:
        hint = 'write the value in Extended JSON, for example {"$date": "2026-01-31T00:00:00Z"}'
        return f"`{name}(…)` is how a shell writes a value: JSON has no calls", hint
    if number := _read_number(written):
        return f"`{written}` is not a JSON number", f"write {number}"
    if _NAME.fullmatch(written):
        return f"the string `{written}` has no quotes", f'write "{written}", in double quotes'
    return f"`{written}` is not a JSON value", 'write strings in double quotes: "…"'


def _read_number(written: str) -> str:
    """Return the JSON notation of a number that Python can read but JSON cannot, or "" for any other text."""
    try:
        value = float(written)
    except ValueError:
        return ""
    if not math.isfinite(value):
        name = "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        return f'null, or {{"$numberDouble": "{name}"}}'
    return str(int(written)) if re.fullmatch(r"[-+]?\d{1,300}", written) else str(value)
