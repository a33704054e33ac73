"""Character classes of PCRE (``[…]``, ``\\d``, ``\\h``, ``[:alpha:]``) as Python writes them.

Without ``(*UCP)``, which the server does not set, ``\\d``, ``\\w``, ``\\s`` and the POSIX classes are ASCII.
Source: https://www.pcre.org/original/doc/html/pcrepattern.html
"""

from __future__ import annotations

from dataclasses import dataclass, field

# The inside of a Python class for each letter that stands for a kind of character.
KINDS = {
    "d": "0-9",
    "w": "A-Za-z0-9_",
    "s": " \\t\\n\\x0b\\f\\r",
    "h": " \\t\\xa0\\u1680\\u180e\\u2000-\\u200a\\u202f\\u205f\\u3000",
    "v": "\\n\\x0b\\f\\r\\x85\\u2028\\u2029",
}
POSIX = {
    "alnum": "A-Za-z0-9",
    "alpha": "A-Za-z",
    "ascii": "\\x00-\\x7f",
    "blank": " \\t",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": KINDS["s"],
    "upper": "A-Z",
    "word": KINDS["w"],
    "xdigit": "0-9A-Fa-f",
}


def kind(letter: str) -> str:
    """The class of ``\\d``, ``\\D``, ``\\w`` …, never touched by the option ``i``."""
    negation = "^" if letter.isupper() else ""
    return f"(?-i:[{negation}{KINDS[letter.lower()]}])"


def literal(character: str) -> str:
    """One character as Python writes it, inside a class and outside."""
    code = ord(character)
    if character.isalnum() and code < 128:
        return character
    if code < 256:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"


@dataclass(slots=True)
class Members:
    """What a class holds: characters and ranges, which ``i`` applies to, and kinds, which it does not."""

    negated: bool = False
    characters: list[str] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)

    def add_range(self, first: str, last: str) -> None:
        """Adds the characters from ``first`` to ``last``."""
        self.characters.append(literal(first) if first == last else f"{literal(first)}-{literal(last)}")

    def add_kind(self, letter: str) -> None:
        """Adds ``\\d``, ``\\W`` …"""
        self.kinds.append(kind(letter))

    def add_posix(self, name: str, negated: bool, caseless: bool) -> None:
        """Adds ``[:name:]``; raises KeyError for a name that PCRE does not know."""
        inside = POSIX[name]
        if caseless and name in ("lower", "upper"):
            inside = POSIX["alpha"]
        self.kinds.append(f"(?-i:[{'^' if negated else ''}{inside}])")

    def python(self) -> str:
        """The class as an expression for one character."""
        choices = [f"[{''.join(self.characters)}]"] if self.characters else []
        choices += self.kinds
        if len(choices) == 1 and not self.negated:
            return choices[0]
        if not self.kinds:
            return f"[^{''.join(self.characters)}]"
        either = "|".join(choices)
        return f"(?:(?!{either})(?s:.))" if self.negated else f"(?:{either})"
