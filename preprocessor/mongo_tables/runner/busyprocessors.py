"""How many of this machine's processors were busy between two moments, and how many of them with something else."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from mongo_tables.runner.sampling import Sample, cores, look_at_processors


class BusyProcessors:
    """Looks at the processors when it is told to; where no server runs on this machine, nothing is known of them."""

    def __init__(self, servers: Collection[int], client: Callable[[], Sequence[int]]) -> None:
        """``servers`` are the processes of those on this machine, ``client`` gives those of the client."""
        self._servers = servers
        self._client = client
        self._samples: list[Sample] = []

    def look(self) -> None:
        """Look now: at the begin, and at the end."""
        if self._servers:
            self._samples.append(look_at_processors([*self._servers, *self._client()]))

    def found(self) -> dict[str, float] | None:
        """Busy processors on average between first and last look, and what of them was neither servers nor client."""
        known = cores(self._samples)
        if known is None:
            return None
        return {"busy": known["busy"], "other": max(0.0, known["busy"] - known["server"])}
