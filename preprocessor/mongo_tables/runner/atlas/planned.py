"""Every call that a run on Atlas makes, listed before any is made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mongo_tables.runner.atlas.address import ALREADY_THERE, AtlasAddress
from mongo_tables.runner.atlas.api import OLDEST, VERSIONS
from mongo_tables.runner.atlas.machine import AtlasMachine


def list_calls(address: AtlasAddress, machines: Sequence[AtlasMachine]) -> Iterator[str]:
    """A line for each kind of call, in the order in which they come for each cluster."""
    clusters = VERSIONS["clusters"]
    clusters_told = f"until it says IDLE twice, and after windows ({clusters['GET']})"
    yield f"calls to Atlas, below /api/atlas/v2/groups/{address.project}; behind each the date of its media type:"
    yield "  POST    /api/oauth/token                        a token an hour (not with a key)"
    yield f"  GET     accessList                              who is let in ({OLDEST})"
    if address.access != ALREADY_THERE:
        yield f"  POST    accessList                              let {address.access} in ({OLDEST})"
    for machine in dict.fromkeys(machines):
        yield f"  POST    clusters                                {machine} ({clusters['POST']})"
    if len({machine.but_tier for machine in machines}) < len(set(machines)):
        yield f"  PATCH   clusters/NAME                           another tier on the same disk ({clusters['PATCH']})"
    yield f"  POST    databaseUsers                           its user ({OLDEST})"
    yield f"  GET     clusters/NAME                           {clusters_told}"
    yield f"  GET     processes                               after each window: which is the primary ({OLDEST})"
    yield f"  GET     processes/ID/measurements               its processors and operations ({OLDEST})"
    yield f"  GET     processes/ID/disks/data/measurements    its disk ({OLDEST})"
    yield f"  DELETE  clusters/NAME                           at every exit, before another disk ({clusters['DELETE']})"
    yield f"  GET     databaseUsers/admin/NAME                whose the user is ({OLDEST})"
    yield f"  DELETE  databaseUsers/admin/NAME                its user ({OLDEST})"
    if address.access != ALREADY_THERE:
        yield f"  DELETE  accessList/ADDRESS                      let it in no more ({OLDEST})"
