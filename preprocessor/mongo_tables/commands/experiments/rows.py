"""Rows that belong to experiments: published figures, and fingerprints of measured rows."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from contextlib import closing

from mongo_tables.runner.experiment import Experiment, control
from mongo_tables.runner.fingerprint import renew
from mongo_tables.runner.result_rows import row_id, write_published
from mongo_tables.runner.store import open_store


def write_rows(wanted: Sequence[Experiment], arguments: Namespace) -> None:
    """Write published figures or fingerprints of the experiments and their controls, and print their number."""
    with closing(open_store(arguments.output)) as store:
        for experiment in (*wanted, *(control(one) for one in wanted if one.control)):
            if arguments.published and not experiment.control_of:
                print(f"{experiment.name}: {write_published(experiment, store)} published rows")
            if arguments.fingerprint:
                ids = [row_id(experiment, number) for number in range(len(experiment.variants))]
                rows = renew(store.rows(experiment.name), experiment, ids)
                store.put(*rows)
                print(f"{experiment.name}: {len(rows)} fingerprints")
