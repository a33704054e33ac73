"""The series of the Turing Change Point Dataset and their annotations, by ``python -m tests.outside tcpd FOLDER``."""

from __future__ import annotations

import json
from statistics import fmean

from mongo_tables.results.history import find_change_points
from tests.outside import outside_folder
from tests.results.annotations import f1


def annotated():
    """Name, values and annotations of each series of one dimension."""
    folder = outside_folder()
    for name, people in sorted(json.loads((folder / "annotations.json").read_text("utf-8")).items()):
        file = folder / f"{name}.json"
        series = json.loads(file.read_text("utf-8"))["series"] if file.exists() else []
        if len(series) == 1:
            yield name, [one for one in series[0]["raw"] if one is not None], people


def test_series_that_people_annotated_are_told_better_than_by_no_change_at_all():
    scores = {
        name: (f1(people, [one.place for one in find_change_points(values)]), f1(people, []))
        for name, values, people in annotated()
    }
    ours, none = (fmean(one) for one in zip(*scores.values(), strict=True))
    print(f"F1 over {len(scores)} series: {ours:.3f}; of no change at all: {none:.3f}")
    assert ours >= 0.70 > none
