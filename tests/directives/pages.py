"""Pages made of container fragments, for properties: each with its comments known beforehand."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hypothesis import strategies as st

BODIES = [
    '{"collection": "results%d", "pipeline": []}',
    '{\n  "collection": "results%d",\n  "pipeline": []\n}\n',
    '\n{"collection":\n\n  "results%d"}\n',
]
_MARK = re.compile("@([a-z]+)(\\d)@")


@dataclass(frozen=True)
class Sample:
    """A page with comments written out, and the same page with one-line placeholders in their places."""

    text: str
    starts: tuple[int, ...]
    folded: str


def indent(lines: list[str], width: int) -> list[str]:
    return [" " * width + line if line else "" for line in lines]


def _leaf(kind: str) -> list[str]:
    return {
        "comment": ["@m0@"],
        "long": ["@m1@"],
        "blank": ["@m2@"],
        "text": ["Some words."],
        "sentence": ["Before @m0@ after."],
        "under": ["A line,", "@m1@"],
        "over": ["@m0@", "and a line."],
        "two": ["@m0@ @m1@"],
        "span": ["Write `@m0@` so."],
        "opened": ["It opens by `<!--` and closes by `-->`."],
        "fence": ["```json", "@m1@", "```"],
        "tildes": ["~~~", "@m2@", "~~~"],
        "heading": ["## Title", "", "@m0@"],
        "table": ["| a | b |", "| - | - |", "| 1 | 2 |"],
        "pre": ["<pre>", "@m0@", "</pre>"],
        "div": ["<div>", "", "@m1@", "", "</div>"],
        "markdown": ['<div markdown="1">', "", "@m1@", "", "</div>"],
        "outer": ["<!-- old: @m0@"],
        "remark": ["<!-- a remark -->"],
    }[kind]


LEAVES = st.sampled_from(
    [
        "comment",
        "long",
        "blank",
        "text",
        "sentence",
        "under",
        "over",
        "two",
        "span",
        "opened",
        "fence",
        "tildes",
        "heading",
        "table",
        "pre",
        "div",
        "markdown",
        "outer",
        "remark",
    ]
).map(_leaf)


def _contain(kind: str, lines: list[str]) -> list[str]:
    first, rest = lines[0], lines[1:]
    return {
        "quote": [f"> {line}" if line else ">" for line in lines],
        "item": [f"- {first}", *indent(rest, 4)],
        "number": [f"1. {first}", *indent(rest, 4)],
        "item text": ["- item", "", *indent(lines, 4)],
        "narrow": ["- item", "", *indent(lines, 2)],
        "admonition": ['!!! note "Title"', *indent(lines, 4)],
        "spaced": ["!!! tip", "", *indent(lines, 4)],
        "details": ["??? note", *indent(lines, 4)],
        "tab": ['=== "Tab"', "", *indent(lines, 4)],
        "footnote": ["[^1]: A note.", "", *indent(lines, 4)],
        "definition": ["Term", ":   A definition.", "", *indent(lines, 4)],
        "code": indent(lines, 4),
    }[kind]


CONTAINERS = st.sampled_from(
    ["quote", "item", "number", "item text", "narrow", "admonition", "spaced", "details", "tab", "code"]
)
DEFINITION = st.just("definition")
FOOTNOTE = st.just("footnote")  # one inside another makes Python-Markdown 3.11 fail


def _joined(parts: list[list[str]]) -> list[str]:
    return [line for part in parts for line in (*part, "")][:-1]


def _blocks(children):
    return _container(CONTAINERS, children)


def _container(kinds, children):
    return st.builds(_contain, kinds, st.lists(children, min_size=1, max_size=3).map(_joined))


@st.composite
def samples(draw) -> Sample:
    """Draw a page of at most six blocks, up to three containers deep."""
    block = st.recursive(LEAVES, _blocks, max_leaves=5)
    blocks = draw(st.lists(block | _container(FOOTNOTE | DEFINITION, block), min_size=1, max_size=6))
    newline = draw(st.sampled_from(["\n", "\n", "\r\n"]))
    return written([line for block in blocks for line in (*block, "")], newline)


def written(lines: list[str], newline: str = "\n") -> Sample:
    """Write the marks in ``lines`` out as comments; further lines of a body get its container's prefix."""
    number = 0
    full: list[str] = []
    folded: list[str] = []
    for index, line in enumerate(lines):
        line = short = line.replace("[^1]:", f"[^{index}]:")
        while match := _MARK.search(line):
            prefix = re.match(r"[> ]*", line)[0]
            body = (BODIES[int(match[2])] % number).replace("\n", "\n" + prefix)
            line = f"{line[: match.start()]}<!-- MONGO_TABLE: {body}-->{line[match.end() :]}"
            short = _MARK.sub(f"<!--mt-{number}-->", short, count=1)
            number += 1
        full += line.split("\n")
        folded.append(short)
    text = newline.join(full)
    starts = tuple(match.start() for match in re.finditer("<!-- MONGO_TABLE", text))
    return Sample(text, starts, "\n".join(folded))
