"""Fourteen ways to store the same events, and to report on them: from a document an event to a field a day.

Every version takes the same ``Event`` and answers the same question with the same report. They differ in what
a document holds, in the statement that brings an event in, and in the pipelines of a report; ``flat`` has the
versions with a document a day, ``arrays`` those with an array a month or quarter, ``dynamic`` those whose fields are
named after days. What each does is published in The Cost of Not Knowing MongoDB
(ArturGC/the-cost-of-not-knowing-mongodb@c8cc690).
"""

from __future__ import annotations

from collections.abc import Mapping

from mongo_tables.runner.eventschemas import arrays, dynamic, flat
from mongo_tables.runner.eventschemas.version import Version

__all__ = ["VERSIONS", "Version"]

VERSIONS: Mapping[str, Version] = {
    version.name: version for version in (*flat.VERSIONS, *arrays.VERSIONS, *dynamic.VERSIONS)
}
"""By name, in the order in which they were thought of."""
