"""The attacks: each a project that is sound but for one thing."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from tests.hostile.corpus import CORPUS
from tests.hostile.projects import CONFIG, SOUND, TABLE, Project, comment

SORTED: Final = [{"$sort": {"_id": 1}}]
DEEP: Final = 10_000


def rows(*texts: str) -> str:
    """Documents whose texts these are."""
    documents = ({"_id": number, "a": text, "n": number} for number, text in enumerate(texts))
    return "".join(f"{json.dumps(one)}\n" for one in documents)


# -- what readers and their programs would run --

FORMULAS: Final = [
    f"{before}{sign}1+1"
    for before in ("", " ", "\ufeff", "\u200b", "\0", "\t", "\u00a0", "\u2060\u3164")
    for sign in "=+-@＝"
]
CONTROL: Final = [
    "\x1b[31mred", "\x1b]0;title\x07", "\x9b31m", "a\x08\x08b", "\u202egnp.exe", "\u2066x\u2069", "\x85", "\x00", "\x7f",
]  # fmt: skip
WORKFLOW: Final = [
    "::set-output name=x::y",
    "::add-mask::x",
    "x\n::stop-commands::x",
    "##[command]x",
    "%0A::error::x",
]

# -- what would write, run code, or read what is none of its business --

CODE: Final = "function() { return 1 }"
FUNCTION: Final = {"$function": {"body": CODE, "args": [], "lang": "js"}}
ACCUMULATOR: Final = {
    "$accumulator": {
        "init": CODE, "accumulate": CODE, "accumulateArgs": [], "merge": CODE, "lang": "js",
    }
}  # fmt: skip
JS_REDUCE: Final = {
    "$_internalJsReduce": {"data": {"k": "$a", "v": "$a"}, "eval": "function(k, v) { return 4242424242 }"}
}
WRITES: Final[dict[str, list[Any]]] = {
    "out": [{"$out": "stolen"}],
    "out elsewhere": [{"$out": {"db": "other", "coll": "stolen"}}],
    "merge": [{"$merge": {"into": "c", "whenMatched": "replace"}}],
    "out in lookup": [{"$lookup": {"from": "c", "as": "x", "pipeline": [{"$out": "stolen"}]}}],
    "merge in facet": [{"$facet": {"f": [{"$merge": "stolen"}]}}],
    "out in union": [{"$unionWith": {"coll": "c", "pipeline": [{"$out": "stolen"}]}}],
    "function": [{"$set": {"a": FUNCTION}}],
    "function in match": [{"$match": {"$expr": FUNCTION}}],
    "function in graph": [
        {"$graphLookup": {
            "from": "c", "startWith": FUNCTION, "connectFromField": "a", "connectToField": "n", "as": "x",
        }}
    ],
    "function in switch": [
        {"$set": {"a": {"$switch": {"branches": [{"case": True, "then": FUNCTION}], "default": 1}}}}
    ],
    "function in let": [{"$lookup": {"from": "c", "let": {"v": FUNCTION}, "pipeline": [], "as": "x"}}],
    "accumulator": [{"$group": {"_id": None, "a": ACCUMULATOR, "n": {"$sum": 1}}}],
    "accumulator in window": [{"$setWindowFields": {"sortBy": {"n": 1}, "output": {"a": ACCUMULATOR}}}],
    "where": [{"$match": {"$where": CODE}}],
    "where in and": [{"$match": {"$and": [{"$nor": [{"$where": CODE}]}]}}],
    "code": [{"$set": {"a": {"$code": CODE}}}],
    "code with scope": [{"$set": {"a": {"$literal": {"$code": CODE, "$scope": {"x": 1}}}}}],
    "internal reduce": [{"$group": {"_id": "$a", "a": JS_REDUCE, "n": {"$sum": 1}}}],
    "internal reduce in bucket": [{"$bucketAuto": {"groupBy": "$n", "buckets": 1, "output": {"a": JS_REDUCE}}}],
    "internal stage": [{"$_internalInhibitOptimization": {}}, {"$_internalSplitPipeline": {}}],
    "state of the server": [{"$currentOp": {"allUsers": True}}],
    "other database": [{"$lookup": {"from": {"db": "admin", "coll": "system.users"}, "as": "x", "pipeline": []}}],
    "other database in union": [{"$unionWith": {"db": "config", "coll": "transactions"}}],
}  # fmt: skip

# -- where work has no end, or its result no size --

GREEDY: Final = "a" * 40
ENDLESS: Final[dict[str, list[Any]]] = {
    "regex": [{"$match": {"a": {"$regex": "^(a+)+$"}}}],
    "regex find all": [{"$set": {"a": {"$regexFindAll": {"input": "$a", "regex": "(a*)*c"}}}}],
    "regex in an array": [{"$match": {"a": {"$in": [{"$regularExpression": {"pattern": "^(a|aa)+$", "options": ""}}]}}}],
    "range": [{"$set": {"a": {"$size": {"$range": [0, 1_000_000_000]}}}}],
    "densify": [{"$densify": {"field": "n", "range": {"step": 1, "bounds": [0, 10**12]}}}],
    "ranges in ranges": [
        {"$set": {"a": {"$map": {"input": {"$range": [0, 100_000_000]}, "in": {"$range": [0, 100_000_000]}}}}}
    ],
    "buckets": [{"$bucketAuto": {"groupBy": "$n", "buckets": 2**31 - 1}}],
    "first n": [{"$group": {"_id": None, "a": {"$firstN": {"input": "$a", "n": {"$numberLong": str(2**62)}}}}}],
}  # fmt: skip


TWICE: Final = {
    "$reduce": {"input": {"$range": [0, 40]}, "initialValue": "$a", "in": {"$concat": ["$$value", "$$value"]}}
}
TWICE_AS_LONG: Final = {
    "$reduce": {
        "input": {"$range": [0, 40]},
        "initialValue": [1],
        "in": {"$concatArrays": ["$$value", "$$value"]},
    }
}
NUMBERS: Final = {"$set": {"x": {"$range": [0, 3000]}, "y": {"$range": [0, 3000]}}}
MANY: Final = {"$set": {"x": {"$range": [0, 20_000]}}}
GROWING: Final[dict[str, list[Any]]] = {
    "text twice as long": [{"$set": {"a": TWICE}}],
    "array twice as long": [{"$set": {"a": {"$size": TWICE_AS_LONG}}}],
    "unwound twice": [NUMBERS, {"$unwind": "$x"}, {"$unwind": "$y"}, {"$group": {"_id": "$x", "n": {"$sum": "$y"}}}],
    "zipped": [
        {"$set": {"a": {"$size": {"$zip": {"inputs": [{"$range": [0, 60_000_000]}, [1]], "useLongestLength": True}}}}}
    ],
    "growing windows": [
        MANY, {"$unwind": "$x"},
        {"$setWindowFields": {
            "sortBy": {"x": 1},
            "output": {"a": {"$push": "$x", "window": {"documents": ["unbounded", "current"]}}},
        }},
    ],
    "every part replaced": [
        {"$set": {"a": {"$reduce": {"input": {"$range": [0, 100_000]}, "initialValue": "", "in": {"$concat": ["$$value", "a"]}}}}},
        {"$set": {"a": {"$replaceAll": {"input": "$a", "find": "a", "replacement": "$a"}}}},
    ],
}  # fmt: skip


def _links(project: Path) -> None:
    place = project / "fixtures" / "c"
    (place / "z.jsonl").symlink_to("../../../outside/secret.jsonl")
    (project / "docs" / "pipelines").mkdir()
    (project / "docs" / "pipelines" / "p.json").symlink_to("../../../outside/secret.txt")


def _loops(project: Path) -> None:
    (project / "fixtures" / "c" / "loop.jsonl").symlink_to("loop.jsonl")
    (project / "fixtures" / "round").symlink_to(".")


def _loop_of_pages(project: Path) -> None:
    (project / "docs" / "round").symlink_to("..")


def _pipes(project: Path) -> None:
    (project / "docs" / "pipelines").mkdir()
    for place in ("fixtures/c/pipe.jsonl", "docs/pipe.md", "docs/pipelines/pipe.json", "fixtures/d"):
        os.mkfifo(project / place)
    for place in ("fixtures/c/zero.jsonl", "docs/pipelines/zero.json", "docs/zero.md"):
        (project / place).symlink_to("/dev/zero")


TEXTS: Final = {
    "markup": Project(
        "markup", comment(SORTED, title=" ".join(CORPUS), caption=" ".join(CORPUS), headers=[CORPUS[0], CORPUS[4]]),
        rows(*CORPUS),
    ),
    "formulas": Project("formulas", comment(SORTED, headers=[FORMULAS[8], "N"]), rows(*FORMULAS)),
    "control characters": Project(
        "control characters", comment([{"$match": {CONTROL[0]: 1}}], title=CONTROL[0]) + TABLE.replace('"t"', '"u"'),
        rows(*CONTROL), {f"docs/{CONTROL[0]}.md": TABLE.replace('"t"', '"v"')},
    ),
    "workflow commands": Project(
        "workflow commands",
        "".join(f"# {text}\n" for text in WORKFLOW) + comment([{WORKFLOW[0]: 1}], title=WORKFLOW[2]),
        rows(*WORKFLOW), {f"docs/{WORKFLOW[1]}.md": comment([{"$sort": 1}], id="w")},
    ),
}  # fmt: skip
FILES: Final = {
    "collection": Project("collection", comment(SORTED, collection="../../outside"), refused=True),
    "absolute collection": Project("absolute collection", comment(SORTED, collection="/etc"), refused=True),
    "shared pipeline": Project("shared pipeline", comment(["../../outside/secret"]), refused=True),
    "ids": Project(
        "ids", comment(SORTED, id="../../../outside/x"),
        "".join(
            f'{{"_id": {json.dumps(one)}, "a": "x", "n": 1}}\n'
            for one in ("../../outside/x", "/etc/passwd", "..", "a\0b", "con", "x" * 500, "a/../../b")
        ),
    ),
    "names of tests": Project(
        "names of tests",
        documents="".join(f'{{"_id": {{"testname": {json.dumps(one)}}}, "a": "x", "n": 1}}\n' for one in ("../x", "/x", ".")),
    ),
    "links out": Project("links out", comment([*SORTED, "p"]), arranged=_links, refused=True),
    "loops of links": Project("loops of links", arranged=_loops),
    # MkDocs itself follows such a loop until the system stops it.
    "loop of pages": Project("loop of pages", arranged=_loop_of_pages, doors=("check", "diff")),
    "pipes and devices": Project("pipes and devices", arranged=_pipes),
}  # fmt: skip
_SHAPES: Final = {
    "empty page": Project("empty page", b""),
    "empty documents": Project("empty documents", documents=b"", refused=True),
    "byte order mark and CRLF": Project(
        "byte order mark and CRLF", "\ufeff" + TABLE.replace("\n", "\r\n"), "\ufeff" + SOUND.replace("\n", "\r\n")
    ),
    "Latin-1": Project("Latin-1", b"# f\xfcr\n" + TABLE.encode(), SOUND.encode() + b'{"_id": 3, "a": "\xfc"}\n', refused=True),
    "levels of JSON": Project("levels of JSON", comment("LEVELS").replace('"LEVELS"', "[" * DEEP + "]" * DEEP), refused=True),
    "levels of a pipeline": Project(
        "levels of a pipeline",
        comment("LEVELS").replace('"LEVELS"', '[{"$set": {"a": ' + '{"$abs": ' * DEEP + "1" + "}" * DEEP + "}}]"),
        refused=True,
    ),
    "levels of a document": Project(
        "levels of a document", documents='{"_id": 1, "a": ' + "[" * DEEP + "]" * DEEP + "}\n", refused=True
    ),
    "levels of quotes": Project("levels of quotes", ">" * DEEP + TABLE),
    "exponent": Project(
        "exponent", comment([{"$match": {"n": {"$gt": 0}}}]).replace("0}", "1e999999999}"),
        '{"_id": 1, "a": 1e999999999, "n": -1e999999999}\n',
    ),
    "digits": Project(
        "digits", comment([{"$match": {"n": 7}}]).replace("7", "9" * 200_000),
        f'{{"_id": 1, "a": {"9" * 200_000}, "n": 1}}\n', refused=True,
    ),
    "decimal": Project("decimal", documents=f'{{"_id": 1, "a": {{"$numberDecimal": "{"9" * 1_000_000}"}}, "n": 1}}\n', refused=True),
    "long line": Project("long line", documents=f'{{"_id": 1, "a": "{"x" * 5_000_000}", "n": 1}}\n'),
    "long line of the page": Project("long line of the page", "x <!-- " * 100_000 + "\n\n" + TABLE),
    "no line end": Project("no line end", "<!-- MONGO_TABLE: " + "{" * 100_000, refused=True),
    "half a character": Project("half a character", comment([{"$match": {"a": "HALF"}}]).replace("HALF", "\\ud800")),
}  # fmt: skip
# What such pipelines do is the same behind every door: the two that differ most are enough.
FEW: Final = ("check", "build")
SHAPES: Final = {name: replace(attack, doors=("check", "pull", "build")) for name, attack in _SHAPES.items()}
CODES: Final = {
    name: Project(name, comment([*pipeline, *SORTED]), refused=True, doors=FEW)
    for name, pipeline in WRITES.items()
}
WORK: Final = {
    name: Project(name, comment(pipeline), rows(GREEDY + "!", GREEDY, "b"), doors=FEW)
    for name, pipeline in ENDLESS.items()
}
LIMITED: Final = {
    name: Project(
        name, comment(pipeline), files={"mkdocs.yml": f"{CONFIG}      processor_limit: 2\n      memory_limit: 300\n"},
        refused=True, doors=("check",),
    )
    for name, pipeline in GROWING.items()
}  # fmt: skip
