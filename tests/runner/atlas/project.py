"""A project of the fake Atlas: its clusters and users, and what each cluster costs.

Everything happens in the time of a virtual clock. A cluster is a plan of states: at which moment it is in which.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from pymongo import MongoClient

PROJECT = "0123456789abcdef01234567"
IOPS_OF_STANDARD = 3000


class Refused(Exception):
    """What Atlas does not do: a status, and why."""

    def __init__(self, status: int, code: str, detail: str) -> None:
        super().__init__(detail)
        self.status, self.code, self.detail = status, code, detail


@dataclass
class Times:
    """How long things take, in seconds, and what goes wrong with them."""

    creation: float = 600
    deletion: float = 120
    flaps: bool = True
    """Whether a cluster says IDLE between two steps of a change."""
    failing_deletions: int = 0
    vanishes_after: float | None = None
    """From when a cluster is ordered."""
    plan: list[tuple[float, str]] = field(default_factory=list)
    """The states of a new cluster, in the place of the usual ones."""


@dataclass
class Cluster:
    """One cluster: what was ordered, the states that it will be in, and who pays since when."""

    body: dict[str, Any]
    plan: list[tuple[datetime, str]]
    ready: datetime
    paid_from: datetime
    paid_until: datetime | None = None
    vanishes: datetime | None = None
    """When it is gone without anybody having asked."""


class Project:
    """All calls take the lock: the server has a thread for each."""

    def __init__(self, now: Callable[[], datetime], data: str = "") -> None:
        """``data`` is the connection string of the deployment that every cluster is; without one none can be used."""
        self.now = now
        self.data = data
        self.times = Times()
        self.lock = threading.RLock()
        self.clusters: dict[str, Cluster] = {}
        self.ended: list[Cluster] = []
        self.users: dict[str, dict[str, Any]] = {}
        self.later: list[tuple[datetime, Callable[[], object]]] = []
        """What will be done at a moment."""

    # clusters

    def create(self, body: dict[str, Any]) -> dict[str, Any]:
        name, now = body["name"], self.now()
        if name in self.clusters:
            raise Refused(409, "DUPLICATE_CLUSTER_NAME", f"A cluster named {name} is there already.")
        self._check(body)
        body = copy.deepcopy(body)
        hardware = hardware_of(body)
        if hardware.get("ebsVolumeType", "STANDARD") == "STANDARD":
            hardware["diskIOPS"] = IOPS_OF_STANDARD
        plan, ready = self._busy(now, "CREATING", self.times.creation)
        if self.times.plan:
            plan = [(now + timedelta(seconds=since), state) for since, state in self.times.plan]
        vanishes = self.times.vanishes_after
        lost = None if vanishes is None else now + timedelta(seconds=vanishes)
        self.clusters[name] = Cluster(body, plan, ready, now, vanishes=lost)
        self._empty()
        return self.told(name)

    def _check(self, body: dict[str, Any]) -> None:
        hardware = hardware_of(body)
        if hardware.get("ebsVolumeType", "STANDARD") == "STANDARD" and "diskIOPS" in hardware:
            raise Refused(400, "CLUSTER_DISK_IOPS_INVALID", "The IOPS of a STANDARD disk cannot be set.")

    def _busy(self, now: datetime, state: str, seconds: float) -> tuple[list[tuple[datetime, str]], datetime]:
        """The states of a change: with a moment of IDLE in the middle of it."""
        ready = now + timedelta(seconds=seconds)
        plan = [(now, state)]
        if self.times.flaps:
            between = now + timedelta(seconds=seconds / 2)
            plan += [(between, "IDLE"), (between + timedelta(seconds=20), "UPDATING")]
        plan.append((ready, "IDLE"))
        return plan, ready

    def delete(self, name: str) -> None:
        cluster = self._cluster(name)
        if cluster.body.get("terminationProtectionEnabled"):
            raise Refused(
                400, "CANNOT_TERMINATE_CLUSTER_WHEN_TERMINATION_PROTECTION_ENABLED", "It is protected."
            )
        now = self.now()
        if self.times.failing_deletions:
            self.times.failing_deletions -= 1
            cluster.plan = [(now, "DELETING"), (now + timedelta(seconds=50), "IDLE")]
            return
        cluster.plan = [(now, "DELETING"), (now + timedelta(seconds=self.times.deletion), "GONE")]

    def state(self, cluster: Cluster) -> str:
        now = self.now()
        if cluster.vanishes and now >= cluster.vanishes:
            return "GONE"
        return next(state for since, state in reversed(cluster.plan) if since <= now)

    def settle(self) -> None:
        """Let those clusters go that are gone by now; what they cost ends when they went."""
        due = [one for one in self.later if one[0] <= self.now()]
        self.later = [one for one in self.later if one not in due]
        for _, act in due:
            act()
        for name, cluster in list(self.clusters.items()):
            if self.state(cluster) == "GONE":
                cluster.paid_until = cluster.plan[-1][0] if cluster.plan[-1][1] == "GONE" else self.now()
                self.ended.append(self.clusters.pop(name))

    def told(self, name: str) -> dict[str, Any]:
        cluster = self._cluster(name)
        was_idle = any(state == "IDLE" and since <= self.now() for since, state in cluster.plan)
        has_hosts = was_idle or cluster.plan[0][1] == "UPDATING"
        identity = f"{abs(hash(name)) % 16**24:024x}"
        told = {
            **copy.deepcopy(cluster.body), "groupId": PROJECT, "id": identity, "stateName": self.state(cluster),
            "createDate": stamp(cluster.paid_from), "paused": False, "links": [],
            "mongoDBVersion": f"{cluster.body.get('mongoDBMajorVersion', '8.0')}.4",
        }  # fmt: skip
        if has_hosts:
            hosts = self.data.partition("@")[2] or "localhost:1/?replicaSet=none"
            told["connectionStrings"] = {"standard": f"mongodb://{hosts}"}
        return told

    def _cluster(self, name: str) -> Cluster:
        self.settle()
        if name not in self.clusters:
            raise Refused(404, "CLUSTER_NOT_FOUND", f"No cluster named {name} is in the project.")
        return self.clusters[name]

    def all_clusters(self) -> list[dict[str, Any]]:
        self.settle()
        return [self.told(name) for name in self.clusters]

    def cost_until(self, moment: datetime, price: Callable[[dict[str, Any]], float]) -> float:
        """What all clusters have cost, each at the price of its last hardware."""
        return sum(
            ((one.paid_until or moment) - one.paid_from).total_seconds() / 3600 * price(hardware_of(one.body))
            for one in [*self.ended, *self.clusters.values()]
        )

    # users

    def make_user(self, body: dict[str, Any]) -> dict[str, Any]:
        if body["username"] in self.users:
            raise Refused(409, "USER_ALREADY_EXISTS", "The user is there already.")
        if self.data:
            roles = [{"role": one["roleName"], "db": one["databaseName"]} for one in body["roles"]]
            with MongoClient(self.data) as client:
                client.admin.command("createUser", body["username"], pwd=body["password"], roles=roles)
        told = {name: value for name, value in body.items() if name not in ("password", "groupId")}
        self.users[body["username"]] = told
        return told

    def user(self, name: str) -> dict[str, Any]:
        if name not in self.users:
            raise Refused(404, "USER_NOT_FOUND", "No such user.")
        return self.users[name]

    def remove_user(self, name: str) -> None:
        self.user(name)
        if self.data:
            with MongoClient(self.data) as client:
                client.admin.command("dropUser", name)
        del self.users[name]

    def forget_users(self) -> None:
        """Leave none of them on the deployment, which the next test has too."""
        with MongoClient(self.data) if self.data else nullcontext() as client:
            for name in self.users if client else ():
                if client.admin.command("usersInfo", name)["users"]:
                    client.admin.command("dropUser", name)

    def _empty(self) -> None:
        """A new cluster has no data."""
        if self.data:
            with MongoClient(self.data) as client:
                for name in set(client.list_database_names()) - {"admin", "config", "local"}:
                    client.drop_database(name)


def region_of(body: dict[str, Any]) -> dict[str, Any]:
    """What a cluster is in its only region."""
    found: dict[str, Any] = body["replicationSpecs"][0]["regionConfigs"][0]
    return found


def hardware_of(body: dict[str, Any]) -> dict[str, Any]:
    """What its members are."""
    found: dict[str, Any] = region_of(body)["electableSpecs"]
    return found


def stamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
