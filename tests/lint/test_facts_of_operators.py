"""What operators have in common is a trait in their catalogue or in the records of stages, and in no list elsewhere."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from mongo_tables.aggregation.catalogue import operators

PACKAGE: Final = Path(__file__).parents[2] / "preprocessor" / "mongo_tables"
NAMES: Final = {one.name for one in operators()}
MAY_LIST: Final = {
    "lint/causes.py": "words for comparisons in its sentences",
    "lint/condition_rules.py": "operators whose values are true, whatever was found",
    "lint/constant_rules.py": "the part of a date that each operator gives",
    "lint/date_rules.py": "the least and the greatest of each part of a date, and what takes milliseconds",
    "lint/effect_rules.py": "operators that drop a fraction, and conditions that exclude",
    "lint/field_rules.py": "the arguments by which two stages name a field",
    "lint/group_rules.py": "what picks from an array, and what makes a set of one",
    "lint/order_rules.py": "words for each stage that gives no order",
    "lint/row_order.py": "a function for each stage that makes arrays",
    "lint/rule_context.py": "the stages that name the fields that they make",
    "lint/shape/expressions.py": "opposites and mirror images of comparisons",
    "lint/shape/flow.py": "a function for each stage and accumulator",
    "lsp/completion.py": "texts that are offered",
    "lsp/flows.py": "a function for each operator that binds variables",
    "lsp/hover.py": "stages that may drop documents",
    "lsp/slots.py": "what may be written in each argument",
    "results/guards.py": "a reader of what is sent to a server, which trusts no other",
    "results/rows.py": "the stages after which a server orders fields otherwise",
    "runner/event_schemas.py": "pipelines of a benchmark",
}
"""Modules outside ``aggregation`` with lists of operators, each with what only it can know of them."""


def lists(path: Path) -> Iterator[int]:
    """The lines at which a module lists two operators or more; what registers a function for them does not count."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        parts = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", [])
        found = {
            part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)
        }
        if len(found & NAMES) > 1:
            yield node.lineno  # type: ignore[attr-defined]


def test_operators_are_listed_in_the_catalogue_alone() -> None:
    listing = {
        str(path.relative_to(PACKAGE)): found
        for path in sorted(PACKAGE.rglob("*.py"))
        if "aggregation" not in path.parts and (found := [*lists(path)])
    }
    assert {name: found for name, found in listing.items() if name not in MAY_LIST} == {}
    assert sorted(MAY_LIST) == sorted(listing)
