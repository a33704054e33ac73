"""The one list of the fields of result documents that are shown beside figures.

It is read for the provenance under figures, for how the tables of two sources were measured, and for single runs.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple


class Told(NamedTuple):
    """A field, or a part of the document with all its fields, that says how the document was measured.

    ``name`` is what it is called where two sources are compared; without one it is not compared. ``in_provenance``
    says whether the provenance of figures has it.
    """

    path: str
    name: str = ""
    in_provenance: bool = True


_MEASURED: Final = (
    Told("experiment.name", "test"),
    Told("experiment.digest", "experiment digest", in_provenance=False),
    Told("experiment.scale", "scale"),
    Told("experiment.seconds"),
    Told("experiment.profile", "profile"),
    Told("experiment.repeats"),
    Told("experiment.and_back"),
    Told("experiment.seed"),
    Told("experiment.target"),
    Told("versions.server", "server"),
    Told("versions.product", "product"),
    Told("versions.driver", "driver"),
    Told("versions.runtime", "runtime"),
    Told("versions.harness", "harness"),
    Told("hardware.cpu", "processor"),
    Told("hardware.cores", "processors"),
    Told("hardware.memory_gib", "memory (GiB)"),
    Told("hardware.kernel", "kernel", in_provenance=False),
    Told("hardware.disk"),
    Told("servers.members"),
    Told("servers.members.cpu", "processor of the servers", in_provenance=False),
    Told("servers.members.cores", "processors of the servers", in_provenance=False),
    Told("servers.members.memory_gib", "memory of the servers (GiB)", in_provenance=False),
    Told("topology.kind"),
    Told("topology.members", "members"),
    Told("topology.cache_gb", "cache (GiB)"),
    Told("topology.place", "place"),
    Told("topology.program", "program"),
    Told("topology.settings", "settings of the servers"),
    Told("bench_config.atlasInstanceType", "instance"),
    Told("bench_config.atlasDiskType"),
    Told("bench_config.atlasDiskSizeGB"),
    Told("bench_config.atlasIOPS"),
    Told("campaign.id"),
    Told("campaign.start"),
    Told("campaign.blocks"),
    Told("campaigns.each"),
    Told("campaigns.differs"),
    Told("client.connections"),
    Told("client.scheduling", "scheduling of the client", in_provenance=False),
    Told("commit.id", "commit"),
    Told("commit.branch"),
    Told("commit.dirty"),
    Told("write_concern"),
    Told("write_concern.w", "write concern", in_provenance=False),
)
_PARTS: Final = (
    "versions",
    "topology",
    "hardware",
    "servers",
    "bench_config",
    "experiment",
    "campaign",
    "campaigns",
    "client",
    "commit",
    "write_concern",
)
"""The parts of a document in the order in which its provenance has them."""

IN_PROVENANCE: Final[Mapping[str, Sequence[str]]] = {
    part: [
        field
        for one in _MEASURED
        if one.in_provenance and (field := one.path.removeprefix(f"{part}.")) != one.path
    ]
    for part in _PARTS
}
"""The fields that the provenance of figures has, of each part of a document; nothing named means all of it."""

COMPARED: Final[Mapping[str, str]] = {one.name: one.path for one in _MEASURED if one.name}
"""Fields that say how two sources were measured: name → path, in the order of display."""


class RunColumn(NamedTuple):
    """A field of a run as a column: header, meaning, how it is written, whether it stands only where runs have it."""

    header: str
    meaning: str
    unit: str | None = None
    decimals: int | None = None
    thousands: bool | None = None
    optional: bool = False


RUN_COLUMNS: Final[Mapping[str, RunColumn]] = {
    "start_time": RunColumn("Began (UTC)", "When the first window of the line began."),
    "duration": RunColumn("Window", "How long was measured.", unit="ms", thousands=True, optional=True),
    "operations": RunColumn(
        "Operations", "Operations that were done in the window.", thousands=True, optional=True
    ),
    "operations_per_second": RunColumn(
        "Speed", "Operations a second in the window.", unit="operations/s", decimals=1, thousands=True
    ),
    "errors": RunColumn("Errors", "Operations that failed in the window."),
    "seed": RunColumn("Seed", "The number that the random values of the window began with.", optional=True),
}
"""The columns that are shown of each run: the fields of ``repeats``."""
