"""Experiment files: read, check, scale.

A file defines the kind of work (``workload``), its ``parameters`` and ``variants``, the warm-up, the number of repeats,
and the published figures. Parameters have the same names as in result documents.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mongo_tables.findings.usage import CommandError
from mongo_tables.runner import experiment_faults
from mongo_tables.runner.errors import shown
from mongo_tables.runner.workloads.queries import RANGE, map_leaves

SHORTEST_WINDOW_SECONDS = 5
FOLDER = Path(__file__).with_name("experiments")
CALIBRATIONS = Path(__file__).with_name("calibrations")
LABELS = frozenset({"comment", "order", "cost", "price"})
"""Parameters and machine properties that have no effect on a run: they are for readers only."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """The content of an experiment file."""

    name: str
    title: str
    description: str
    workload: str
    """The workload of the variants that do not name another workload."""
    parameters: Mapping[str, Any]
    variants: tuple[Mapping[str, Any], ...]
    scaled: tuple[str, ...] = ()
    least: Mapping[str, int] = field(default_factory=dict)
    least_scale: float = 0.0
    baseline: int = 0
    """The number, from 0, of the reference: the variant with which the others are compared."""
    contrasts: Mapping[int, int] = field(default_factory=dict)
    """Additional comparisons: the number of a variant, from 0 → the number of the variant to compare it with."""
    repeats: int = 1
    warm: bool = False
    reference: Mapping[str, Any] = field(default_factory=dict)
    published: Mapping[str, Any] = field(default_factory=dict)
    fingerprint: tuple[str, ...] = ()
    """The counters that show the mechanism of the effect; see ``mongo_tables.runner.fingerprint``."""
    full_size: tuple[Mapping[str, Any], ...] = ()
    """The ranges of the counters in ``fingerprint`` at full size."""
    changes: Mapping[str, str] = field(default_factory=dict)
    """For each parameter, a text about the effect of its size in this experiment."""
    control: bool = False
    """Whether the experiment has a control: the same variants, with a cache that holds all data."""
    control_of: str = ""
    """For a control, the name of its experiment; otherwise ""."""

    @property
    def digest(self) -> str:
        """Return the SHA-256 of everything that affects a run. Results with different digests are not comparable.

        Descriptions, labels, prices, fingerprints, published figures and the order of parameters do not count. The
        order inside a parameter counts, because it matters in the stages of a pipeline.
        """
        done = {
            "workload": self.workload,
            "parameters": _done(self.parameters),
            "variants": [_done(variant) for variant in self.variants],
            "scaled": sorted(self.scaled),
            "least": sorted(self.least.items()),
            **({"least_scale": self.least_scale} if self.least_scale else {}),
            "repeats": self.repeats,
            "warm": self.warm,
            "cache_gb": self.reference.get("cache_gb"),
            **({"control_of": self.control_of} if self.control_of else {}),
        }
        return _sha256(done)

    @property
    def wording(self) -> str:
        """Return the SHA-256 of the texts that rows copy, which must be equal for all rows of a run."""
        return _sha256([self.title, dict(self.parameters), list(self.variants)])

    def published_rows(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Yield the published rows, each with the number of its variant (from 1; 0 means none).

        A control has no such rows.
        """
        return iter(()) if self.control_of else self.full_size_rows()

    def full_size_rows(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Yield the published rows as ``published_rows`` does. A control has the published rows of its experiment."""
        for number, row in enumerate(self.published.get("rows", ()), 1):
            yield row.get("variant", number), row


def names(folder: Path = FOLDER) -> list[str]:
    """Return the names of the experiments in a folder of the package, sorted."""
    return sorted(path.stem for path in folder.glob("*.toml"))


CONTROL = "_control"
"""The suffix in the name of a control."""


def load(name: str) -> Experiment:
    """Read a packaged experiment by its name or any file by its path. Raise CommandError if it is invalid.

    ``EXPERIMENT_control`` is the name of an experiment's control.
    """
    if name.endswith(CONTROL) and name not in names():
        of = load(name.removesuffix(CONTROL))
        if of.control:
            return control(of)
    path = Path(name) if name.endswith(".toml") else FOLDER / f"{name}.toml"
    try:
        content = path.read_bytes()
    except OSError as error:
        known = ", ".join(names())
        raise CommandError(
            f"no experiment {shown(name)!r}: {error.strerror}", f"known: {known}; or a file *.toml"
        ) from None
    return read(content, path.name)


def read(content: bytes, file: str) -> Experiment:
    """Parse the bytes of an experiment file. ``file`` is its name in error messages. Raises CommandError for faults."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        raise CommandError(f"{file} is not UTF-8") from None
    data, findings = experiment_faults.parse(text, file)
    if findings:
        raise CommandError(f"{file} is not an experiment", findings=findings, sources={file: text})
    lists = ("variants", "scaled", "fingerprint", "full_size")
    return Experiment(
        **data
        | {name: tuple(data[name]) for name in lists if name in data}
        | {
            "description": data.get("description", "").strip(),
            "baseline": data.get("baseline", 1) - 1,
            "contrasts": {one["variant"] - 1: one["with"] - 1 for one in data.get("contrasts", ())},
        }
    )


def control(experiment: Experiment) -> Experiment:
    """Return the control of an experiment: the same variants, with a cache that holds all data.

    The control keeps the published figures of its experiment, but only to compute the ranges of its counters.
    """
    return replace(
        experiment,
        name=f"{experiment.name}{CONTROL}",
        title=f"{experiment.title}, everything in the cache",
        control=False,
        control_of=experiment.name,
    )


def scale_of(experiment: Experiment, asked: float) -> float:
    """Return the factor ``asked``, or the experiment's minimum if ``asked`` is smaller."""
    return max(asked, experiment.least_scale)


def scale(experiment: Experiment, factor: float) -> Experiment:
    """Return the experiment with the parameters that ``scaled`` names multiplied by ``factor``.

    A number does not fall below 1 or below its minimum in ``least``, nor a time below ``SHORTEST_WINDOW_SECONDS``. A
    value that is already below its limit stays as it is. In query templates and pipelines, the ranges of random numbers
    are scaled with the data; the other numbers of a pipeline do not change.
    """
    return replace(
        experiment,
        parameters=_scale(experiment.parameters, experiment, factor),
        variants=tuple(_scale(variant, experiment, factor) for variant in experiment.variants),
    )


def configs(experiment: Experiment) -> Iterator[dict[str, Any]]:
    """Yield the config of each variant, as ``config_of`` returns it."""
    return (config_of(experiment, variant) for variant in experiment.variants)


def config_of(experiment: Experiment, variant: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of the experiment and of the variant, which has precedence, and the workload's name."""
    return {"workload": experiment.workload, **experiment.parameters, **variant}


def _sha256(value: Any) -> str:
    return hashlib.sha256(
        json.dumps(value, default=str).encode()
    ).hexdigest()  # unlike TOML, JSON has no dates


def _done(values: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the parameters that affect a run, as pairs sorted by name."""
    return [
        (name, _done(value) if name == "instance" else value)
        for name, value in sorted(values.items())
        if name not in LABELS
    ]


def _scale(values: Mapping[str, Any], experiment: Experiment, factor: float) -> dict[str, Any]:
    made_smaller = _smaller(values, experiment.scaled, factor)
    for name, least in experiment.least.items():
        if name in values:
            made_smaller[name] = max(made_smaller[name], min(least, values[name]))
    return made_smaller


def _smaller(values: Mapping[str, Any], scaled: Sequence[str], factor: float) -> dict[str, Any]:
    """Return the values, after multiplying those that ``scaled`` names. The name ``a.b`` means the field b of a."""
    result = {}
    for key, value in values.items():
        inner = [name.partition(".")[2] for name in scaled if name.partition(".")[0] == key]
        if "" in inner:
            result[key] = _scaled(key, value, factor)
        elif inner:
            result[key] = _smaller(value, inner, factor)
        else:
            result[key] = value
    return result


def _scaled(key: str, value: Any, factor: float) -> Any:
    if isinstance(value, Mapping):
        return {name: _scaled(name, one, factor) for name, one in value.items()}
    if isinstance(value, list):
        return map_leaves(value, lambda leaf: _scaled("", leaf, factor) if isinstance(leaf, str) else leaf)
    if isinstance(value, str):
        return RANGE.sub(lambda match: _range(match, factor), value)
    if key == "testTimeSecs":
        return max(min(value, SHORTEST_WINDOW_SECONDS), round(value * factor))
    return max(min(value, 1), round(value * factor))


def _range(match: re.Match[str], factor: float) -> str:
    name, first, last, count = match.groups()
    least = int(first) + (int(count) if count else 1) - 1  # a list needs enough different numbers
    width = max(
        least, int(int(last) * factor)
    )  # rounded down, because a larger number would find no document
    return f"{name}({first},{width}{',' + count if count else ''})"
