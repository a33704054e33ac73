"""What killed runs have left in a project: found by name and tag, and removed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Any, NamedTuple

from mongo_tables.runner.atlas import journal
from mongo_tables.runner.atlas.access import remove_user, shut_out
from mongo_tables.runner.atlas.api import Api
from mongo_tables.runner.atlas.clock import Clock, iso
from mongo_tables.runner.atlas.clusters import LEFT_HINT, SETTLES_SECONDS, delete_cluster
from mongo_tables.runner.atlas.names import UNTIL_TAG, run_of_cluster, run_of_entry, run_of_user, tag_of
from mongo_tables.runner.errors import RunnerError, TargetError


class _Left(NamedTuple):
    """Something of ours in the project: of which run, what it is in words, and how it is removed.

    ``is_over`` is whether it says itself that no run uses it any more.
    """

    run: str
    words: str
    remove: Callable[[], None]
    is_over: bool


def sweep(api: Api, note: Callable[[str], None]) -> int:
    """Remove what ended runs have left in the project, and say what; give how much it was.

    What belongs to a run that goes on stays, and so does what a run of another machine made, until the time in its tag
    has passed. Raises RunnerError where something could not be removed: everything else is.
    """
    journals = [one for one in journal.found() if one.project == api.project]
    ended = {one.run: one.is_left for one in journals}
    _let_settle([one for one in journals if one.is_left], api.clock)
    refused: dict[str, TargetError] = {}
    removed = 0
    for left in _find(api):
        if not ended.get(left.run, left.is_over):
            note(f"{left.words} stays: its run {left.run} goes on, or is one of another machine")
            continue
        try:
            left.remove()
        except TargetError as error:
            refused[left.run] = error
        else:
            removed += 1
            note(f"{left.words} of the run {left.run} is removed")
    for one in journals:
        if one.is_left and one.run not in refused:
            one.path.unlink(missing_ok=True)
    if refused:
        raise RunnerError(
            "; ".join(error.message for error in refused.values()),
            next(iter(refused.values())).hint or LEFT_HINT,
        )
    return removed


def projects() -> list[str]:
    """The projects in which killed runs of this user may have left something, as their journals say."""
    return list(dict.fromkeys(one.project for one in journal.found() if one.is_left))


def _let_settle(journals: Sequence[journal.Found], clock: Clock) -> None:
    """Wait until what was asked for last would show."""
    latest = max((str(one.actions[-1]["at"]) for one in journals if one.actions), default="")
    if latest >= iso(clock.now() - timedelta(seconds=SETTLES_SECONDS)):
        clock.sleep(SETTLES_SECONDS)


def _find(api: Api) -> Iterator[_Left]:
    """Clusters first, which cost most. Users and addresses say nothing of whether they are in use, and end in days."""
    over: dict[str, bool] = {}
    for cluster in list(api.pages("clusters")):
        if run := run_of_cluster(cluster):
            over[run] = over.get(run, True) and _is_over(api, cluster)
            name = str(cluster["name"])
            yield _Left(run, f"the cluster {name}", partial(delete_cluster, api, name), over[run])
    for user in list(api.pages("databaseUsers")):
        if run := run_of_user(user):
            name = str(user["username"])
            yield _Left(run, f"the user {name}", partial(remove_user, api, name, run), over.get(run, False))
    for entry in list(api.pages("accessList")):
        if run := run_of_entry(entry):
            address = str(entry.get("ipAddress") or entry.get("cidrBlock"))
            yield _Left(
                run, f"the address {address}", partial(shut_out, api, address, run), over.get(run, False)
            )


def _is_over(api: Api, cluster: Mapping[str, Any]) -> bool:
    until = tag_of(cluster, UNTIL_TAG)
    return bool(until) and until < iso(api.clock.now())
