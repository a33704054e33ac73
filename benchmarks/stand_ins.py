"""How often stand-ins for a server answer as it does: `python -m benchmarks.stand_ins [--write fixtures]`.

This project, mongomock, mongomock-ng and mongoeco answer the same pipelines: the case files of `tests/conformance`,
generated pipelines, and those of the tables of `tests/acceptance/pages`. What a server answers, the case files say (a
test holds them against it); a `mongod` says it for the others. Each library is installed into an environment of its
own in a temporary folder, the newest version that pip finds; one that cannot be installed is told with the reason.

Right is an answer with the same rows, byte for byte as BSON: values, types, order of fields and of rows; or, where the
server fails, an error that a driver raises. Alike are rows that differ in the order of fields or in the type of
numbers alone. Nothing is excused, neither here nor there.

`--write FOLDER` keeps the figures there, in the collection `stand_ins`, which `docs/authors/testing.md` shows.
"""

from __future__ import annotations

import argparse
import base64
import json
import math
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import bson
import pymongo
from bson import json_util
from bson.codec_options import CodecOptions, DatetimeConversion
from bson.decimal128 import Decimal128
from hypothesis import HealthCheck, Phase, given, seed, settings

from benchmarks import answering
from benchmarks.page_queries import queries_of
from mongo_tables.results.extended_json import write_line
from tests.acceptance.collections import COLLECTIONS
from tests.conformance.before8 import rules_of_6_0
from tests.conformance.generator import documents, variables
from tests.conformance.outcomes import evaluated, stored
from tests.conformance.pipelines import pipelines
from tests.mongod import running

HERE: Final = Path(__file__).parents[1]
CASE_FILES: Final = HERE / "tests" / "conformance"
PAGES: Final = HERE / "tests" / "acceptance" / "pages"
OURS: Final = "mongo-tables"
OTHERS: Final = ("mongomock", "mongomock-ng", "mongoeco")
_OPTIONS: Final[CodecOptions[dict[str, Any]]] = CodecOptions(
    datetime_conversion=DatetimeConversion.DATETIME_AUTO
)

Answer = Mapping[str, Any]
Verdict = Literal["right", "alike", "other", "error"]


class Suite(NamedTuple):
    """Pipelines of one kind, as lines of Extended JSON, and what a server answers to each."""

    name: str
    about: str
    cases: Sequence[str]
    expected: Sequence[Answer]
    server: str = ""


class Outcome(NamedTuple):
    """The answers of one library, or why there are none."""

    versions: Mapping[str, str]
    answers: Sequence[Answer]
    reason: str = ""


# -- what is asked --


def write_case(collections: Mapping[str, Any], collection: str, pipeline: Any, let: Any) -> str:
    """A case as a line of canonical Extended JSON."""
    case = {"collections": collections, "collection": collection, "pipeline": pipeline, "let": let or {}}
    return json_util.dumps(case, json_options=json_util.CANONICAL_JSON_OPTIONS)


def read_case_files() -> Suite:
    """The case files with the answers that stand in them."""
    cases, expected = [], []
    for path in sorted(CASE_FILES.glob("*/*.json")):
        case = json_util.loads(path.read_text("utf-8"), json_options=answering.JSON_OPTIONS)
        collections = {"case": case["documents"], **case.get("collections", {})}
        cases.append(write_case(collections, "case", case["pipeline"], case.get("let")))
        expected.append(_expect(case))
    return Suite("files", "Case files of this project", cases, expected)


def _expect(case: Mapping[str, Any]) -> Answer:
    if case.get("error"):
        return {"error": "OperationFailure", "by_driver": True}
    return {"rows": [answering.encode(row) for row in case["expected"]]}


def generate_cases(number: int, chosen: int) -> list[str]:
    """Pipelines drawn by lot, without those that versions of MongoDB answer differently, as far as is known."""
    found: list[str] = []

    @seed(chosen)
    @settings(
        max_examples=number,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(documents(), pipelines(), variables())
    def draw(docs: Any, pipeline: Any, let: Any) -> None:
        docs, (let,) = stored(docs), stored([let])
        with rules_of_6_0():
            before = evaluated(docs, pipeline, let)
        if before == evaluated(docs, pipeline, let):
            found.append(write_case({"case": docs}, "case", pipeline, let))

    draw()
    return list(dict.fromkeys(found))


def list_tables() -> list[str]:
    """The pipelines of the tables of pages, over the documents that the tests of these pages have."""
    asked = queries_of([str(PAGES)], HERE / "docs" / "pipelines")
    return [write_case(COLLECTIONS, one.collection, list(one.pipeline), dict(one.let)) for one in asked]


def ask_server(suites: Mapping[str, tuple[str, Sequence[str]]]) -> list[Suite]:
    """The suites with the answers of a server."""
    with running() as server:
        os.environ[answering.SERVER] = server.uri()
        with pymongo.MongoClient[dict[str, Any]](server.uri()) as client:
            version = client.server_info()["version"]
        return [
            Suite(name, about, cases, ask(sys.executable, "server", cases).answers, version)
            for name, (about, cases) in suites.items()
        ]


# -- who answers --


def ask(python: str, library: str, cases: Sequence[str]) -> Outcome:
    """The answers of a library in the environment of a Python."""
    done = subprocess.run(
        [python, str(Path(answering.__file__)), library],
        input="".join(f"{case}\n" for case in cases), capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )  # fmt: skip
    if done.returncode:
        return Outcome({}, (), _last_line(done.stderr) or f"it ended with status {done.returncode}")
    first, *answers = map(json.loads, done.stdout.splitlines())
    return Outcome(first, answers)


def install(library: str, interpreter: str, folder: Path) -> tuple[str, str]:
    """The Python of a new environment with a library; or "", and why it cannot be installed."""
    subprocess.run([interpreter, "-m", "venv", str(folder)], check=True)
    python = str(folder / "bin" / "python")
    done = subprocess.run(
        [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", library, "pymongo"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return (python, "") if not done.returncode else ("", _last_line(done.stderr))


def _last_line(text: str) -> str:
    return text.strip().split("\n")[-1][:200]


# -- how it is judged --


def judge(expected: Answer, found: Answer) -> Verdict:
    """What an answer is beside that of a server."""
    if "rows" not in found:
        return "right" if "rows" not in expected and found["by_driver"] else "error"
    if "rows" not in expected:
        return "other"
    theirs, ours = (_decode(one["rows"]) for one in (expected, found))
    if [bson.encode(one) for one in theirs] == [bson.encode(one) for one in ours]:
        return "right"
    return "alike" if is_alike(theirs, ours) else "other"


def _decode(rows: Sequence[str]) -> list[dict[str, Any]]:
    """The rows, with one NaN for all: its sign and payload are the processor's affair."""
    return [_one_nan(bson.decode(base64.b64decode(row), _OPTIONS)) for row in rows]


def _one_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _one_nan(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_one_nan(inner) for inner in value]
    return math.nan if isinstance(value, float) and value != value else value


def is_alike(one: Any, other: Any) -> bool:
    """Whether two values are the same but for the order of fields and the type of numbers."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_alike(value, other[name]) for name, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_alike, one, other))
    if _is_number(one) and _is_number(other):
        left, right = (_plain(value) for value in (one, other))
        return bool(left == right or (left != left and right != right))
    return type(one) is type(other) and bool(one == other)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal128) and not isinstance(value, bool)


def _plain(value: Any) -> Any:
    return value.to_decimal() if isinstance(value, Decimal128) else value


# -- what is kept --


def count(suite: Suite, outcome: Outcome) -> Mapping[str, Any]:
    """The number of cases of a suite, and of each verdict; only the first where there are no answers."""
    if outcome.reason:
        return {"cases": len(suite.cases), "reason": outcome.reason}
    verdicts = Counter(map(judge, suite.expected, outcome.answers))
    return {
        "cases": len(suite.cases),
        **{name: verdicts[name] for name in ("right", "alike", "other", "error")},
    }


def measure(library: str, suites: Sequence[Suite], interpreter: str, day: datetime) -> list[dict[str, Any]]:
    """A document for each suite."""
    with tempfile.TemporaryDirectory() as folder:
        python, reason = (
            (sys.executable, "") if library == OURS else install(library, interpreter, Path(folder))
        )
        found = []
        for suite in suites:
            outcome = Outcome({}, (), reason) if reason else ask(python, library, suite.cases)
            named = {"_id": {"suite": suite.name, "library": library}, "about": suite.about, "day": day}
            named |= {"server": suite.server} if suite.server else {}
            found.append({**named, **outcome.versions, **count(suite, outcome)})
            print(json.dumps({**found[-1], "day": f"{day:%Y-%m-%d}"}), flush=True)
    return found


def write(folder: Path, found: Sequence[dict[str, Any]]) -> None:
    """Keep the documents as a fixture file."""
    place = folder / "stand_ins"
    place.mkdir(parents=True, exist_ok=True)
    lines = [write_line(bson.encode(one)) for one in found]
    (place / "stand_ins.jsonl").write_text("\n".join([*lines, ""]), "utf-8")


def main() -> None:
    """Ask, judge, print, and keep the figures if they are wanted."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--generated", type=int, default=2000, help="generated pipelines (default: 2000)")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--python", default=sys.executable, help="for the environments: mongoeco wants 3.13")
    options.add_argument("--write", type=Path, metavar="FOLDER", help="keep the figures in a fixture folder")
    arguments = options.parse_args()
    asked = {
        "tables": ("Tables of test pages", list_tables()),
        "generated": ("Generated pipelines", generate_cases(arguments.generated, arguments.seed)),
    }
    suites = [read_case_files(), *ask_server(asked)]
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
    found = [one for library in (OURS, *OTHERS) for one in measure(library, suites, arguments.python, today)]
    if arguments.write:
        write(arguments.write, found)


if __name__ == "__main__":
    main()
