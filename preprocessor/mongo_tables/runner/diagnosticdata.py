"""Processors and disks of a server's own machine, as the server samples them: FTDC by ``getDiagnosticData``.

A mongod reads ``/proc`` once a second for its diagnostic data and hands out its last sample
(https://www.mongodb.com/docs/manual/administration/full-time-diagnostic-data-capture/). Its counters become those that
``sampling`` reads of this machine, so that the series are the same wherever the servers run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from mongo_tables.runner.sampling import Sample
from mongo_tables.runner.serverprocess import process_of

if TYPE_CHECKING:
    from pymongo import MongoClient

SOURCE: Final = "getDiagnosticData"
_TIMES: Final = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal", "guest", "guest_nice")
_SECTOR: Final = 512
"""Bytes, whatever the disk has (https://docs.kernel.org/admin-guide/iostats.html)."""


def read_machine(client: MongoClient[dict[str, Any]]) -> Sample | None:
    """The last sample of the primary's machine; None where it has none.

    A mongos has only those of its own machine, which is not where the data is. The time of a sample is by the server's
    clock. Raises PyMongoError.
    """
    from bson.codec_options import CodecOptions
    from bson.raw_bson import RawBSONDocument

    # 80 kB of counters a time: only what is looked at is decoded.
    options: Any = CodecOptions(document_class=RawBSONDocument, tz_aware=True)
    data = client.admin.command("getDiagnosticData", codec_options=options).get("data", {})
    system, status = data.get("systemMetrics", {}), data.get("serverStatus", {})
    if not system.get("cpu") or "start" not in data or status.get("process") == "mongos":
        return None
    return Sample(
        when=data["start"],
        cpu=_cpu(system["cpu"]),
        disk=_disks(system.get("disks", {})),
        server_cpu=_process_seconds(status.get("extra_info", {})),
        operations={},
        process=process_of(status),
    )


def _cpu(counters: Mapping[str, Any]) -> dict[str, float]:
    return {kind: float(counters[f"{kind}_ms"]) / 1000 for kind in _TIMES if f"{kind}_ms" in counters}


def _disks(disks: Mapping[str, Mapping[str, Any]]) -> dict[str, int]:
    """All disks together: which of them holds the data, the server does not say."""
    if not disks:
        return {}
    every = list(disks.values())
    return {
        "read_count": sum(int(one["reads"]) for one in every),
        "write_count": sum(int(one["writes"]) for one in every),
        "read_bytes": sum(int(one["read_sectors"]) for one in every) * _SECTOR,
        "write_bytes": sum(int(one["write_sectors"]) for one in every) * _SECTOR,
    }


def _process_seconds(info: Mapping[str, Any]) -> float:
    return (float(info.get("user_time_us", 0)) + float(info.get("system_time_us", 0))) / 1e6
