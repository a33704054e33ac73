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

SERVERS: Final = {
    "tests.mongod.running",
    "tests.mongod.program",
    "mongo_tables.runner.local_set.LocalReplicaSet",
}
BUILDS: Final = {
    "tests.hosts.builds.build",
    "tests.hosts.inprocess.built",
    "tests.hosts.test_sphinx.build",
    "tests.hostile.doors.enter",
}
FORKED: Final = "tests.forked"
"""Forks whatever it is asked for: who asks it for a build is known."""
BUILDING_MODULES: Final = {"mkdocs.commands.build", "mkdocs.__main__"}
BUILDING_PROGRAMS: Final = {"mkdocs", "zensical", "properdocs"}
SLOW: Final = (
    "tests/acceptance/test_every_door.py",
    "tests/acceptance/test_faults.py",
    "tests/acceptance/test_own_site.py",
    "tests/aggregation/test_limits.py",
    "tests/commands/diff/test_checkouts.py",
    "tests/commands/diff/test_diff.py",
    "tests/commands/explain/test_explain.py::test_colours",
    "tests/commands/init/test_draft.py",
    "tests/commands/diff/test_github.py",
    "tests/commands/test_hostile_text.py",
    "tests/commands/test_limits.py",
    "tests/commands/test_process.py",
    "tests/commands/test_pull.py",
    "tests/commands/test_standard_input.py",
    "tests/commands/test_startup.py",
    "tests/commands/test_unreadable.py",
    "tests/commands/test_writing.py",
    "tests/directives/test_comments_properties.py",
    "tests/lsp/test_actions.py",
    "tests/lsp/test_fuzz.py",
    "tests/lsp/test_nothing_reached.py",
    "tests/lsp/test_same_as_check.py",
    "tests/lsp/test_served_",
    "tests/files/test_process.py",
    "tests/findings/test_baseline.py",
    "tests/lint/test_check.py",
    "tests/lint/test_order.py",
    "tests/site/test_directives.py",
    "tests/site/test_other_pages.py",
    "tests/site/test_site_config.py",
    "tests/release/test_packages.py",
    "tests/runner/test_event_schemas.py",
    "tests/runner/test_command.py",
    "tests/runner/test_experiments.py",
    "tests/runner/test_faults.py",
    "tests/runner/test_meter.py",
    "tests/runner/test_local_set.py",
    "tests/runner/test_result_rows.py",
    "tests/runner/test_reading.py",
    "tests/runner/test_sharded.py",
    "tests/runner/test_store.py",
    "tests/runner/test_validation.py",
    "tests/runner/test_waiting.py",
    "tests/runner/test_window.py",
    "tests/runner/test_worker.py",
    "tests/directives/schemas/editors/test_editors.py",
    "tests/hosts/plugins/test_included.py",
    "tests/hosts/plugins/test_plugins.py",
    "tests/hosts/test_away.py",
    "tests/hosts/test_prose.py",
    "tests/hosts/test_result_shape.py",
    "tests/hosts/test_serve.py",
    "tests/hosts/test_zensical.py",
)
"""Beginnings of the ids of tests that take more than some seconds, by themselves or all of a file together; so do those
of ``LONG``."""
LONG: Final = (
    "tests/acceptance/test_same_bytes.py::test_fixture_and_server_give_the_same_bytes[everything]",
    "tests/aggregation/test_limits.py::test_a_dense_graph_is_walked",
    "tests/aggregation/test_limits.py::test_long_arrays_are_held",
    "tests/browser/test_accessibility.py::test_no_rule_is_broken_on_any_kind_of_page",
    "tests/browser/test_accessibility.py::test_no_rule_is_broken_where_it_is_narrow",
    "tests/browser/test_hostile.py::test_hostile_values_are_shown_as_they_are[extension.html]",
    "tests/browser/test_hostile.py::test_nothing_of_a_hostile_database_runs_or_is_fetched[extension.html]",
    "tests/browser/test_links.py::test_under_zensical",
    "tests/browser/test_network.py::test_search_asks_no_other_host",
    "tests/browser/test_network.py::test_the_site_works_from_a_folder",
    "tests/browser/test_network.py::test_without_a_script",
    "tests/hostile/test_attacks.py::test_what_grows_without_end_is_ended_by_a_limit_that_is_named[unwound twice]",
    "tests/results/formats/test_gobenchmark.py::test_two_hundred_thousand_lines",
    "tests/results/formats/test_separated.py::test_a_hundred_thousand_columns",
    "tests/results/test_mongodb.py::test_a_server_that_stops_answering_is_given_up",
    "tests/runner/test_event_schemas.py::test_days_come_at_their_time",
    "tests/runner/test_event_schemas.py::test_whatever_happens_all_versions_agree",
    "tests/runner/loadmachines/test_machines.py",
    "tests/runner/test_campaign.py::test_a_block_that_was_cut_off_long_ago",
    "tests/runner/test_campaign.py::test_a_run_that_begins_anew",
    "tests/runner/test_campaign.py::test_two_targets_take_turns_in_slices_too",
    "tests/runner/test_clients.py::test_many_encrypted_connections",
    "tests/runner/test_command.py::test_a_second_run_replaces_rows",
    "tests/runner/test_command.py::test_a_time_limit_ends_the_window",
    "tests/runner/test_command.py::test_windows_of_another_number_of_processes",
    "tests/runner/test_events.py::test_data_that_was_not_loaded_as_a_whole",
    "tests/runner/test_events.py::test_reports_and_events_come_side_by_side",
    "tests/runner/test_events.py::test_reports_follow_each_other_when_no_rate_is_asked_for",
    "tests/runner/test_events.py::test_the_data_does_not_depend_on_who_loads_it",
    "tests/runner/test_events.py::test_what_is_loaded_answers_as_counting_does[appV5",
    "tests/runner/test_runs.py::test_a_window_in_which_a_member_ended",
    "tests/runner/test_runs.py::test_another_deployment_has_nothing_loaded",
    "tests/runner/test_runs.py::test_the_load_that_warms_runs_on_into_the_window",
    "tests/runner/test_runs.py::test_two_runs_at_once",
    "tests/runner/test_faults.py::test_other_options_are_not_a_resumed_run",
    "tests/runner/test_local_set.py::test_a_member_that_ends_before_there_is_a_primary",
    "tests/runner/test_local_set.py::test_a_run_whose_supervisor_is_killed",
    "tests/runner/test_local_set.py::test_a_set_of_three_has_a_primary_and_two_that_follow",
    "tests/runner/test_named_targets.py::test_each_variant_is_measured_on_the_target",
    "tests/runner/test_named_targets.py::test_one_deployment_is_not_measured_as_three_machines",
    "tests/runner/test_result_rows.py::test_a_run_writes_the_figures_beside",
    "tests/runner/test_row_speeds.py",
    "tests/runner/test_servers.py::test_every_user_who_may_write_gets_a_row_as_the_schema_says[narrow]",
    "tests/runner/test_window.py::test_work_by_amount_is_measured",
    "tests/runner/test_worker.py::test_what_goes_wrong_beside_the_requests",
    "tests/runner/test_cache_size.py::test_a_run_loads_what_the_cache_asks_for",
    "tests/runner/test_failover.py::test_what_held_members_do_not_acknowledge_is_done_nevertheless[2",
    "tests/hosts/plugins/test_plugins.py::test_every_figure_is_right_beside_a_plugin_when_built_and_when_edited[llmstxt]",
    "tests/hosts/plugins/test_plugins.py::test_every_figure_is_right_beside_a_plugin_when_built_and_when_edited[rss",
    "tests/hosts/plugins/test_plugins.py::test_every_figure_is_right_in_each_version_that_mike",
    "tests/hosts/plugins/test_plugins.py::test_every_figure_is_right_under_zensical_when_built_and_when_edited[macros",
    "tests/hosts/test_away.py::test_new_documents_of_a_database",
    "tests/hosts/test_prose.py::test_a_preview_shows_a_failing_statement",
    "tests/hosts/test_random_sites.py",
    "tests/hosts/test_serve.py::test_a_preview_shows_a_fault_in_the_page",
    "tests/hosts/test_serve.py::test_a_preview_works_with_a_dead_results_source",
    "tests/hosts/test_zensical.py::test_a_preview_shows_a_fault_in_the_page",
    "tests/hosts/test_zensical.py::test_what_a_template_writes",
)
"""Beginnings of the ids of tests that take seconds: those around them keep the promise in small, and `-m thorough` runs
them."""
MANY_EXAMPLES: Final = 100
FEWER: Final = 4
"""One of so many examples is tried, where not all are asked for by ``-m exhaustive``."""
_FEWER_ALREADY: Final = "_tried_with_fewer_examples"


def markers_of(item: pytest.Function, exhaustive: bool = False) -> Iterator[str]:
    """The markers of a test; ``exhaustive`` says that properties are to be tried with all their examples."""
    functions = [item.function, *(one[-1].func for one in item._fixtureinfo.name2fixturedefs.values())]
    needs = frozenset().union(*(needs_of(one) for one in functions))
    yield from sorted(needs)
    if item.nodeid.startswith("tests/browser/"):
        yield "browser"
    many = examples_of(item.function) >= MANY_EXAMPLES
    long = item.nodeid.startswith(LONG)
    if item.nodeid.startswith(SLOW) or long or many or _is_marked_long(item):
        yield "slow"
    if long and not item.get_closest_marker("exhaustive"):
        yield "thorough"
    if exhaustive and many:
        yield "exhaustive"


def _is_marked_long(item: pytest.Function) -> bool:
    return any(item.get_closest_marker(name) for name in ("thorough", "exhaustive"))


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
