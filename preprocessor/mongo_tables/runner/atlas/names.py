"""By what we know what is ours in a project: its name *and* its tag, both written when it was made."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import count
from typing import Any, Final

from mongo_tables.runner.atlas.clock import iso

RUN_TAG: Final = "mongo-tables-run"
UNTIL_TAG: Final = "mongo-tables-until"
"""Until then a cluster may be in use, wherever its run is."""
_NAME: Final = re.compile(r"mongo-tables-([0-9a-f]{6})-[0-9]+")
_WORDS: Final = re.compile(r"mongo-tables run ([0-9a-f]{12})")


def cluster_names(run: str) -> Iterator[str]:
    """Of a run's clusters, and of the users who may use them; the first 23 characters tell clusters apart on Atlas."""
    return (f"mongo-tables-{run[:6]}-{number}" for number in count(1))


def tags(run: str, until: datetime) -> list[dict[str, str]]:
    """Those of a run's cluster."""
    return [{"key": RUN_TAG, "value": run}, {"key": UNTIL_TAG, "value": iso(until)}]


def words(run: str) -> str:
    """What stands beside a run's user and its entry of the access list."""
    return f"mongo-tables run {run}"


def run_of_cluster(cluster: Mapping[str, Any]) -> str | None:
    """The run that made the cluster; None for one that is not ours, or not for sure."""
    run = tag_of(cluster, RUN_TAG)
    found = _NAME.fullmatch(str(cluster.get("name", "")))
    return run if run and found and re.fullmatch("[0-9a-f]{12}", run) and run.startswith(found[1]) else None


def tag_of(cluster: Mapping[str, Any], key: str) -> str:
    """The value of a tag; "" where there is none."""
    return next((str(tag.get("value", "")) for tag in cluster.get("tags") or () if tag.get("key") == key), "")


def run_of_user(user: Mapping[str, Any]) -> str | None:
    """The run that made the database user; None for one that is not ours."""
    run = _run_in(user.get("description"))
    found = _NAME.fullmatch(str(user.get("username", "")))
    return run if run and found and run.startswith(found[1]) else None


def run_of_entry(entry: Mapping[str, Any]) -> str | None:
    """The run that let an address in; None for an entry that is not ours."""
    return _run_in(entry.get("comment"))


def _run_in(text: Any) -> str | None:
    found = _WORDS.fullmatch(str(text or ""))
    return found[1] if found else None
