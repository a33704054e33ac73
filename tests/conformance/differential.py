"""Holds the evaluator against a real server, on generated pipelines: ``python -m tests.conformance.differential``.

Every disagreement is printed with the smallest documents and pipeline that show it, ready to become a case file. What
is known to differ is a list of predicates, in ``known``: each is printed with how often it was met.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests import mongod
from tests.conformance.before8 import rules_of_6_0
from tests.conformance.generator import documents, variables
from tests.conformance.known import KNOWN, known_difference
from tests.conformance.outcomes import Case, Documents, Server, described, evaluated, same, stored
from tests.conformance.pipelines import pipelines

_PART = 1000


def compare(server: Server, examples: int, chosen: int, seen: Counter[str]) -> None:
    """Runs ``examples`` generated cases by the rules of 6.0; raises AssertionError with the smallest disagreement.

    ``seen`` counts what came out: ``rows``, ``error``, ``not offline``, or the reason of a known difference.
    """

    @seed(chosen)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
    )
    @given(documents(), pipelines(), variables())
    def case(docs: Documents, pipeline: Documents, let: dict[str, Any]) -> None:
        docs, (let,) = stored(docs), stored([let])
        ours, theirs = evaluated(docs, pipeline, let), server.answer(docs, pipeline, let)
        found = Case(docs, pipeline, let, ours, theirs)
        if same(ours, theirs):
            seen[ours[0]] += 1
            return
        reason = known_difference(found)
        assert reason, described(found)
        seen[reason] += 1

    with rules_of_6_0():
        case()


def main() -> int:
    """Starts a server, compares, says what was compared; 1 when anything disagreed."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--examples", type=int, default=20_000, help="generated pipelines (default: 20000)")
    options.add_argument("--seed", type=int, default=0, help="first seed; each thousand examples has its own")
    options.add_argument("--keep-going", action="store_true", help="go on after a disagreement")
    arguments = options.parse_args()
    seen: Counter[str] = Counter()
    disagreements, begun = 0, time.monotonic()
    with mongod.running() as running:
        server = Server(running.uri())
        for part in range(max(1, arguments.examples // _PART)):
            try:
                compare(server, min(_PART, arguments.examples), arguments.seed + part, seen)
            except (AssertionError, ExceptionGroup) as error:
                disagreements += 1
                print(f"seed {arguments.seed + part}: {error}\n", flush=True)
                if not arguments.keep_going:
                    break
    print(summary(seen, time.monotonic() - begun, disagreements))
    return 1 if disagreements else 0


def summary(seen: Counter[str], seconds: float, disagreements: int) -> str:
    """What was compared, what is known to differ with its count, and the number of disagreements."""
    same_kinds = ("rows", "error", "not offline")
    compared = f"{seen.total()} pipelines compared in {seconds:.0f} s"
    agreed = ", ".join(f"{seen[kind]} {kind}" for kind in same_kinds)
    lines = [f"{compared}: the same {agreed}; known to differ:"]
    lines += [f"{seen[one.reason]:7d}  {one.reason}" for one in KNOWN]
    return "\n".join([*lines, f"{disagreements} disagreements"])


if __name__ == "__main__":
    sys.exit(main())
