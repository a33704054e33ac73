"""Who may use a run's cluster: a database user of its own, from the address of this machine.

Both end by themselves after some days, as Atlas permits for up to a week, should nobody come to remove them.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from mongo_tables.runner.atlas.address import ALREADY_THERE
from mongo_tables.runner.atlas.api import Api, ApiError
from mongo_tables.runner.atlas.clock import iso
from mongo_tables.runner.atlas.journal import Journal
from mongo_tables.runner.atlas.names import run_of_entry, run_of_user, words
from mongo_tables.runner.errors import TargetError

LASTS: Final = timedelta(days=6)
ROLES: Final = ("readWriteAnyDatabase", "dbAdminAnyDatabase", "clusterMonitor")
"""What a run asks of a deployment with users, of those roles that Atlas gives."""
_SECRET_BYTES: Final = 32


def let_in(api: Api, journal: Journal, address: str) -> bool:
    """Put the address on the project's access list; give whether that was done: one that is there stays as it is.

    Raises TargetError where the entry is that of another run, which would take it away when it ends.
    """
    entries = list(api.pages("accessList"))  # who may not ask is told so before anything is written down
    if address == ALREADY_THERE:
        return False
    for entry in entries:
        if _is_for(entry, address):
            run = run_of_entry(entry)
            if run and run != journal.run:
                raise TargetError(
                    f"the access list has {address} for the run {run}, which takes it away when it ends",
                    "wait until that has ended; run --sweep removes what a killed run left",
                )
            return False
    journal.note("let in", name=address)
    network = "cidrBlock" if "/" in address else "ipAddress"
    ends = iso(api.clock.now() + LASTS)
    api.post("accessList", body=[{network: address, "comment": words(journal.run), "deleteAfterDate": ends}])
    return True


def _is_for(entry: Mapping[str, Any], address: str) -> bool:
    """Whether the entry is just that address: Atlas gives one of an address alone as a network too."""
    lengths = ("/32", "/128")
    return any(
        str(entry.get(name, "")) in (address, *(f"{address}{length}" for length in lengths))
        for name in ("ipAddress", "cidrBlock")
    )


def shut_out(api: Api, address: str, run: str) -> None:
    """Take from the access list what ``let_in`` put there for the run, if it is there. Raises ApiError."""
    for entry in api.pages("accessList"):
        if _is_for(entry, address) and run_of_entry(entry) == run:
            _unless_gone(api, "accessList", str(entry.get("cidrBlock") or entry.get("ipAddress")))
            return


def make_user(api: Api, journal: Journal, name: str) -> str:
    """Make a database user who may use the cluster of the same name alone; give the password. Raises ApiError."""
    password = secrets.token_urlsafe(_SECRET_BYTES)
    api.hide(password)
    journal.note("make user", name=name)
    body = {
        "databaseName": "admin",
        "groupId": api.project,
        "username": name,
        "password": password,
        "description": words(journal.run),
        "roles": [{"databaseName": "admin", "roleName": role} for role in ROLES],
        "scopes": [{"name": name, "type": "CLUSTER"}],
        "deleteAfterDate": iso(api.clock.now() + LASTS),
    }
    try:
        api.post("databaseUsers", body=body)
    except ApiError as error:
        if error.status != 409:
            raise
        # It was sent again since its answer was lost: the name is this run's alone, and the password the same.
    return password


def remove_user(api: Api, name: str, run: str) -> None:
    """Remove what ``make_user`` made for the run, if it is there. Raises ApiError."""
    user = api.find("databaseUsers", "admin", name)
    if user is not None and run_of_user(user) == run:
        _unless_gone(api, "databaseUsers", "admin", name)


def _unless_gone(api: Api, *path: str) -> None:
    try:
        api.delete(*path)
    except ApiError as error:
        if error.status != 404:
            raise
