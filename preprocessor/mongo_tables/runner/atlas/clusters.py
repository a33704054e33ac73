"""The life of a cluster: made, waited for, read back, changed, removed.

Atlas answers a request when it has been understood, and does it in the minutes that follow. A cluster says IDLE between
two steps of one change too: it is ready when it has said so twice in a row, and where its members are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Final

from mongo_tables.runner.atlas.api import Api, ApiError
from mongo_tables.runner.atlas.budget import Budget
from mongo_tables.runner.atlas.journal import Journal
from mongo_tables.runner.atlas.machine import AtlasMachine, differences, order, specs
from mongo_tables.runner.atlas.names import run_of_cluster
from mongo_tables.runner.errors import TargetError

IDLE: Final = "IDLE"
POLL_SECONDS: Final = 30.0
LONGEST_CHANGE: Final = timedelta(minutes=60)
"""For so long a cluster is waited for."""
LONGEST_DELETION: Final = timedelta(minutes=30)
IN_USE: Final = timedelta(hours=48)
"""For so long after it was made, no sweep of another machine takes a cluster for one that was left."""
SETTLES_SECONDS: Final = 60.0
"""A request whose answer is not known may take so long to show."""
_WORKING: Final = frozenset({"CREATING", "UPDATING", "REPAIRING"})
LEFT_HINT: Final = "mongo-tables run --sweep removes what is left; a cluster costs money until it is gone"


class Clusters:
    """Those of one run in a project."""

    def __init__(self, api: Api, journal: Journal, budget: Budget, note: Callable[[str], None]) -> None:
        """``note`` tells people what is waited for."""
        self._api = api
        self._journal = journal
        self._budget = budget
        self._note = note
        self._doubtful: set[str] = set()
        """Those whose order has no answer that says whether it will be done."""

    def create(self, machine: AtlasMachine, name: str) -> None:
        """Order the cluster, which is not ready then. Raises TargetError; an order without an answer may be there."""
        self._budget.begin(name, machine)
        self._journal.note("create cluster", name=name)
        self._note(f"Atlas: {name} is made: {machine}")
        until = self._api.clock.now() + IN_USE
        self._doubtful.add(name)
        try:
            self._api.post("clusters", body=order(machine, name, self._journal.run, until))
        except ApiError as error:
            if 400 <= error.status < 500:
                self._doubtful.discard(name)
            # An order that was sent again since its answer was lost is refused the second time.
            if error.status != 409 or not self._is_ours(self._find(name)):
                raise
        self._doubtful.discard(name)

    def change_tier(self, machine: AtlasMachine, name: str) -> None:
        """Give the cluster another tier, once nothing else is changed on it. Raises TargetError."""
        self._budget.begin(name, machine)
        self._journal.note("change cluster", name=name)
        self._note(f"Atlas: {name} becomes {machine.tier}")
        self._change_idle(name, {"replicationSpecs": specs(machine)})

    def wait(self, machine: AtlasMachine, name: str) -> Mapping[str, Any]:
        """What Atlas says of the cluster when it is ready, and is what was asked for. Raises TargetError."""
        cluster = self._await_idle(name)
        if different := list(differences(cluster, machine)):
            raise TargetError(f"the cluster {name} is not what was asked for: {'; '.join(different)}")
        return cluster

    def fault(self, machine: AtlasMachine, name: str) -> str:
        """How the cluster is no longer what was prepared, "" where it is. Raises ApiError."""
        cluster = self._find(name)
        if cluster is None:
            return _gone(name)
        different = "; ".join(differences(cluster, machine))
        return f"the cluster {name} was changed while it was measured: {different}" if different else ""

    def delete(self, name: str) -> None:
        """Remove the cluster, if it is there and ours, and wait until it is gone. Raises TargetError."""
        cluster = self._find(name)
        if cluster is None and name in self._doubtful:
            self._note(f"Atlas: whether {name} was ordered is not known; it is looked for once more")
            self._api.clock.sleep(SETTLES_SECONDS)
            cluster = self._find(name)
        if cluster is None:
            self._budget.end(name)
            return
        self._check_ours(cluster, name)
        self._journal.note_removal("delete cluster", name=name)
        self._note(f"Atlas: {name} is removed")
        delete_cluster(self._api, name)
        self._budget.end(name)

    def _find(self, name: str) -> Mapping[str, Any] | None:
        """What Atlas says of the cluster now; None when there is none. Raises ApiError."""
        found: Mapping[str, Any] | None = self._api.find("clusters", name)
        return found

    def _is_ours(self, cluster: Mapping[str, Any] | None) -> bool:
        return cluster is not None and run_of_cluster(cluster) == self._journal.run

    def _check_ours(self, cluster: Mapping[str, Any], name: str) -> None:
        """Raise TargetError for a cluster that is not to be touched."""
        if not self._is_ours(cluster):
            raise TargetError(f"the cluster {name} has not the tag of this run, and stays untouched")

    def _await_idle(self, name: str) -> Mapping[str, Any]:
        """The cluster, which has said twice in a row that nothing is changed on it."""
        ends, idle, state = self._api.clock.now() + LONGEST_CHANGE, 0, ""
        while self._api.clock.now() < ends:
            cluster = self._find(name)
            if cluster is None:
                raise TargetError(_gone(name))
            state = str(cluster.get("stateName"))
            if state != IDLE and state not in _WORKING:
                raise TargetError(f"the cluster {name} is {state} while this run waits for it")
            idle = idle + 1 if state == IDLE and cluster.get("connectionStrings") else 0
            if idle == 2:
                return cluster
            self._budget.check()
            self._api.clock.sleep(POLL_SECONDS)
        minutes = LONGEST_CHANGE.total_seconds() / 60
        lacks = ", and Atlas says no hosts of it," if state == IDLE else ""
        raise TargetError(f"the cluster {name} is still {state}{lacks} after {minutes:g} minutes")

    def _change_idle(self, name: str, body: Mapping[str, Any]) -> None:
        """Change the cluster to what the body says when nothing else is changed on it, if it is ours."""
        ends = self._api.clock.now() + LONGEST_CHANGE
        while True:
            self._check_ours(self._await_idle(name), name)
            try:
                self._api.patch("clusters", name, body=body)
            except ApiError as error:
                if error.status != 409 or self._api.clock.now() >= ends:
                    raise
            else:
                return


def _gone(name: str) -> str:
    return f"the cluster {name} is gone from the project; this run has not removed it"


def delete_cluster(api: Api, name: str) -> None:
    """Have a cluster removed that is known to be ours, and wait until it is gone. Raises TargetError.

    While something else is changed on it, Atlas may refuse; and it may go on as if nothing had been asked.
    """
    ends, refusal = api.clock.now() + LONGEST_DELETION, ""
    while api.clock.now() < ends:
        try:
            cluster = api.find("clusters", name)
            if cluster is None:
                return
            if cluster.get("stateName") != "DELETING":
                api.delete("clusters", name)
        except ApiError as error:
            if error.status != 404:
                refusal = error.message
                if error.status != 409:
                    break
        api.clock.sleep(POLL_SECONDS)
    minutes = LONGEST_DELETION.total_seconds() / 60
    reason = refusal or f"it is still there after {minutes:g} minutes"
    raise TargetError(f"the cluster {name} could not be removed: {reason}")
