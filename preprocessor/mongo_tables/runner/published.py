"""Published figures as documents of the collection ``published``, so that pages can put them beside results.

There is one document for each row of an experiment file that has figures. Its ``result_id`` is the ``_id`` of the
result row it belongs to, to the byte, so that an equality ``$lookup`` from ``results`` finds it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mongo_tables.runner.experiment import Experiment
from mongo_tables.runner.result import row_id
from mongo_tables.runner.resultcheck import check_published
from mongo_tables.runner.store import Store

ABOUT_THE_ROW = frozenset({"variant", "source", "note"})
"""Names in a row that are not figures."""


def documents(experiment: Experiment) -> list[dict[str, Any]]:
    """The documents of an experiment in the order of its rows; rows without figures give none."""
    return [
        _document(experiment, number, variant, row)
        for number, (variant, row) in enumerate(experiment.published_rows(), 1)
        if row.keys() - ABOUT_THE_ROW
    ]


def write(experiment: Experiment, store: Store) -> int:
    """Have the store hold the documents of an experiment and say how many there are; raises RunnerError."""
    found = documents(experiment)
    for document in found:
        check_published(document)
    store.publish(experiment.name, found)
    return len(found)


def _document(experiment: Experiment, number: int, variant: int, row: Mapping[str, Any]) -> dict[str, Any]:
    about = {**experiment.published, **row}
    return {
        "_id": {"testname": experiment.name, "row": number},
        "testname": experiment.name,
        "row": number,
        "variant": variant,
        **({"result_id": row_id(experiment, variant - 1)} if variant else {}),
        "figures": {name: value for name, value in row.items() if name not in ABOUT_THE_ROW},
        **{name: about[name] for name in ("source", "note") if name in about},
    }
