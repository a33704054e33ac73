"""What a test needs, read from its code: a server, a built site, a browser, or more than a few seconds.

A test needs what its function, its fixtures and the functions of ``tests`` that they name need. Slow is a property
that is tried with many examples, and what ``SLOW`` lists: how long other things take is in no code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final

import pytest
from hypothesis import is_hypothesis_test, settings

SERVERS: Final = {"tests.mongod.running", "tests.mongod.program", "preprocessor.runner.local.LocalReplicaSet"}
BUILDS: Final = {"tests.site.builds.build", "tests.site.inprocess.built", "tests.hostile.doors.enter"}
FORKED: Final = "tests.forked"
"""Forks whatever it is asked for: who asks it for a build is known."""
BUILDING_MODULES: Final = {"mkdocs.commands.build", "mkdocs.__main__"}
BUILDING_PROGRAMS: Final = {"mkdocs", "zensical", "properdocs"}
SLOW: Final = (
    "tests/acceptance/test_every_door.py",
    "tests/acceptance/test_faults.py",
    "tests/acceptance/test_own_site.py",
    "tests/acceptance/test_two_machines.py",
    "tests/aggregation/test_limits.py",
    "tests/commands/diff/test_diff.py",
    "tests/commands/explain/test_explain.py::test_colours",
    "tests/commands/new/test_new.py",
    "tests/commands/test_hostile_text.py",
    "tests/commands/test_limits.py",
    "tests/commands/test_process.py",
    "tests/commands/test_pull.py",
    "tests/commands/test_standard_input.py",
    "tests/commands/test_startup.py",
    "tests/commands/test_unreadable.py",
    "tests/commands/test_writing.py",
    "tests/comments/test_comments_properties.py",
    "tests/files/test_gcpause.py",
    "tests/findings/test_baseline.py",
    "tests/lint/test_check.py",
    "tests/lint/test_elements.py",
    "tests/lint/test_growth.py",
    "tests/lint/test_order.py",
    "tests/pages/test_directives.py",
    "tests/pages/test_otherpages.py",
    "tests/pages/test_siteconfig.py",
    "tests/results/test_memory.py",
    "tests/runner/eventschemas/test_events.py",
    "tests/runner/test_command.py",
    "tests/runner/test_experiments.py",
    "tests/runner/test_faults.py",
    "tests/runner/test_lag.py",
    "tests/runner/test_limits.py",
    "tests/runner/test_local.py",
    "tests/runner/test_published.py",
    "tests/runner/test_reading.py",
    "tests/runner/test_rounds.py",
    "tests/runner/test_store.py",
    "tests/runner/test_validation.py",
    "tests/runner/test_waiting.py",
    "tests/runner/test_window.py",
    "tests/runner/test_worker.py",
    "tests/schemas/editors/test_editors.py",
    "tests/site/plugins/test_included.py",
    "tests/site/plugins/test_plugins.py",
    "tests/site/test_away.py",
    "tests/site/test_growth.py",
    "tests/site/test_prose.py",
    "tests/site/test_random_sites.py",
    "tests/site/test_result_shape.py",
    "tests/site/test_serve.py",
    "tests/site/test_zensical.py",
)
"""Beginnings of the ids of tests that take more than some seconds, by themselves or all of a file together."""
MANY_EXAMPLES: Final = 100
FEWER: Final = 4
"""One of so many examples is tried, where not all are asked for by ``-m thorough``."""
_FEWER_ALREADY: Final = "_tried_with_fewer_examples"


def markers_of(item: pytest.Function, thorough: bool = False) -> Iterator[str]:
    """The markers of a test; ``thorough`` says that properties are to be tried with all their examples."""
    functions = [item.function, *(one[-1].func for one in item._fixtureinfo.name2fixturedefs.values())]
    needs = frozenset().union(*(needs_of(one) for one in functions))
    yield from sorted(needs)
    if item.nodeid.startswith("tests/browser/"):
        yield "browser"
    many = examples_of(item.function) >= MANY_EXAMPLES
    if item.nodeid.startswith(SLOW) or many or item.get_closest_marker("thorough"):
        yield "slow"
    if thorough and many:
        yield "thorough"


def examples_of(function: Callable[..., Any]) -> int:
    """With how many examples a property is tried; 0 for any other test."""
    if not is_hypothesis_test(function):
        return 0
    stated = getattr(function, "_hypothesis_internal_use_settings", None) or settings()
    return int(getattr(function, _FEWER_ALREADY, stated.max_examples))


def try_fewer_examples(function: Callable[..., Any]) -> None:
    """Lets a property with many examples be tried with a part of them, the first ones."""
    examples = examples_of(function)
    if examples >= MANY_EXAMPLES and not hasattr(function, _FEWER_ALREADY):
        stated = function._hypothesis_internal_use_settings  # type: ignore[attr-defined]
        function._hypothesis_internal_use_settings = settings(stated, max_examples=examples // FEWER)  # type: ignore[attr-defined]
        setattr(function, _FEWER_ALREADY, examples)


@cache
def needs_of(function: Callable[..., Any]) -> frozenset[str]:
    """``server`` and ``build``, where a function or one that it names needs them."""
    needs: set[str] = set()
    seen: set[int] = set()
    ahead: list[Any] = [function]
    while ahead:
        one = unwrapped(ahead.pop())
        if id(one) in seen:
            continue
        seen.add(id(one))
        name = f"{getattr(one, '__module__', '')}.{getattr(one, '__qualname__', '')}"
        needs |= {"server"} if name in SERVERS else {"build"} if name in BUILDS else set()
        if isinstance(one, FunctionType) and one.__module__.startswith("tests.") and one.__module__ != FORKED:
            names, texts = names_and_texts(one.__code__)
            needs |= (
                {"build"}
                if names & BUILDING_MODULES or (texts & BUILDING_PROGRAMS and "build" in texts)
                else set()
            )
            ahead += named(one, names)
    return frozenset(needs)


def unwrapped(one: Any) -> Any:
    """The function below what decorators have put around it: that of a property, of a fixture."""
    one = getattr(getattr(one, "hypothesis", None), "inner_test", one)
    return getattr(one, "__wrapped__", one)


def named(function: FunctionType, names: set[str]) -> Iterator[Any]:
    """What a function can call: globals that it names, and attributes of modules that it names."""
    for name in names:
        value = function.__globals__.get(name)
        if isinstance(value, ModuleType):
            yield from (getattr(value, inner) for inner in names if hasattr(value, inner))
        elif callable(value):
            yield value


def names_and_texts(code: CodeType) -> tuple[set[str], set[str]]:
    """The names and the texts in a function's code, and in that of the functions inside it."""
    names, texts = set(code.co_names), set()
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            inner_names, inner_texts = names_and_texts(constant)
            names |= inner_names
            texts |= inner_texts
        texts |= {
            one for one in (constant if isinstance(constant, tuple) else (constant,)) if isinstance(one, str)
        }
    return names, texts
