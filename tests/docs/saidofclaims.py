"""Sentences about what a source concludes, with what they follow from: ``remarks.json`` and ``conclusions.json``.

What stands in braces in a sentence is filled in: from the one document that its pipeline gives, from ``claim``, from
``row`` and ``other``, the ``_id`` of the two rows that the claim compares, and ``found``, what their comparison says. A
pipeline that gives no document says that the sentence does not hold. Of what no document has, ``source`` says where it
stands. ``of`` is how the ``_id`` of a claim begins that the sentence may be said of: without it, of any.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any, NamedTuple

from mongo_tables.results import Query, open_source

HERE = Path(__file__).parent
SOURCE = open_source(str(HERE.parents[1] / "fixtures"))
SPELLED = dict(enumerate("none one two three four five six seven eight".split())) | {
    16: "sixteen",
    "OBJECT_ID": "ObjectId",
}


class Sentence(NamedTuple):
    """What may be said, of which claims, and why."""

    says: str
    of: tuple[str, ...] = ("",)
    collection: str = ""
    pipeline: tuple[Mapping[str, Any], ...] = ()
    source: str = ""

    @property
    def written(self) -> str:
        """What is not filled in."""
        return "".join(text for text, *_ in Formatter().parse(self.says))

    @property
    def follows(self) -> bool:
        """Whether documents decide it."""
        return bool(self.pipeline) or any(name for _, name, *_ in Formatter().parse(self.says))

    def find(self) -> list[Mapping[str, Any]]:
        """The documents it is said by: one that is empty, where it needs none."""
        return list(SOURCE.aggregate(Query(self.collection, self.pipeline))) if self.pipeline else [{}]


def read_sentences(name: str) -> list[Sentence]:
    read = json.loads((HERE / name).read_text("utf-8"))
    return [
        Sentence(**{key: tuple(value) if isinstance(value, list) else value for key, value in one.items()})
        for one in read
    ]


SENTENCES = read_sentences("remarks.json") + read_sentences("conclusions.json")
CLAIMS = list(SOURCE.aggregate(Query("claims", ())))


class Filling(Formatter):
    """Formats as Python does, and by names."""

    def format_field(self, value: Any, format_spec: str) -> str:
        match format_spec:
            case "word":
                return str(SPELLED.get(value, value))
            case "Word":
                spelled = str(SPELLED.get(value, value))
                return spelled[0].upper() + spelled[1:]
            case "percent":
                return f"{value * 100:.0f}"
            case "json":
                return json.dumps(value)
            case "schema":
                return str(value).removeprefix("app")
            case "call":
                return str(value[0].lower() + value[1:])
        return str(super().format_field(value, format_spec))


@cache
def read_rows() -> list[Mapping[str, Any]]:
    return list(SOURCE.aggregate(Query("results", ())))


def find_row(claim: Mapping[str, Any], wanted: Mapping[str, Any]) -> Mapping[str, Any]:
    """The one row of the claim's experiment that has in its ``_id`` what is wanted."""
    wanted = {"testname": claim["testname"], **wanted}
    (row,) = (
        one
        for one in read_rows()
        if wanted.items() <= {**one["_id"], "query": None, "pipeline": None}.items()
    )
    return row


def find_compared(claim: Mapping[str, Any]) -> dict[str, Any]:
    """The rows that a claim compares, and what was found: nothing where it names none."""
    if "row" not in claim:
        return {}
    row = find_row(claim, claim["row"])
    found = row["campaigns"]["contrast"] if claim.get("compares") == "contrast" else row["campaigns"]
    other = find_row(claim, claim["beside"])
    return {"row": row["_id"], "other": other["_id"], "found": found}


@cache
def list_documents() -> list[tuple[Sentence, Mapping[str, Any]]]:
    """Every sentence with the document that it is said by."""
    return [(one, document) for one in SENTENCES for document in one.find()]


def say(claim: Mapping[str, Any]) -> list[tuple[Sentence, str]]:
    """The sentences that may be said of a claim, filled in."""
    known = {"claim": claim, **find_compared(claim)}
    said = []
    for sentence, document in list_documents():
        if str(claim["_id"]).startswith(sentence.of):
            try:
                said.append((sentence, Filling().vformat(sentence.says, (), {**document, **known})))
            except (KeyError, TypeError):  # It is about rows, and this claim names others or none.
                continue
    return said


def find_said(claim: Mapping[str, Any], text: str) -> list[tuple[Sentence, str]]:
    """The sentences that a text about a claim consists of, in its order; what is no sentence is left out."""
    used = [(one, said) for one, said in say(claim) if f" {said} " in f" {text} "]
    return sorted(used, key=lambda one: f" {text} ".index(f" {one[1]} "))
