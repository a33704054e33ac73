"""Experiment files: read, checked, scaled.

A file says what work is done (``workload``), with which ``parameters`` and ``variants``, what is warmed and
how often it is repeated, and which figures were published for it. The names of parameters are those that
result documents use.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from preprocessor.runner.errors import ExperimentError

FOLDER = Path(__file__).with_name("experiments")


@dataclass(frozen=True, slots=True)
class Experiment:
    """What an experiment file says; ``digest`` is the SHA-256 of the file, for results to name."""

    name: str
    title: str
    description: str
    workload: str
    parameters: Mapping[str, Any]
    variants: tuple[Mapping[str, Any], ...]
    scaled: tuple[str, ...]
    repeats: int
    warm: bool
    reference: Mapping[str, Any]
    published: Mapping[str, Any]
    digest: str


def names() -> list[str]:
    """Names of the experiments that come with the package, sorted."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def load(name: str) -> Experiment:
    """Read a packaged experiment by its name or any file by its path; raises ExperimentError."""
    path = Path(name) if name.endswith(".toml") else FOLDER / f"{name}.toml"
    try:
        content = path.read_bytes()
    except OSError as error:
        known = ", ".join(names())
        raise ExperimentError(
            f"no experiment {name!r}: {error.strerror}", f"known: {known}; or a file *.toml"
        ) from None
    try:
        return read(content)
    except ExperimentError as error:
        raise ExperimentError(f"{path.name}: {error.message}", error.hint) from None


def read(content: bytes) -> Experiment:
    """Read the bytes of an experiment file; raises ExperimentError."""
    try:
        data = tomllib.loads(content.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ExperimentError(str(error)) from None
    missing = [key for key in ("name", "title", "workload", "parameters", "variants") if key not in data]
    if missing:
        raise ExperimentError(f"missing: {', '.join(missing)}")
    return Experiment(
        name=data["name"],
        title=data["title"],
        description=data.get("description", "").strip(),
        workload=data["workload"],
        parameters=data["parameters"],
        variants=tuple(data["variants"]),
        scaled=tuple(data.get("scaled", ())),
        repeats=data.get("repeats", 1),
        warm=data.get("warm", False),
        reference=data.get("reference", {}),
        published=data.get("published", {}),
        digest=hashlib.sha256(content).hexdigest(),
    )


def scale(experiment: Experiment, factor: float) -> Experiment:
    """The same experiment with every number that ``scaled`` names multiplied by ``factor``, at least 1."""
    return replace(
        experiment,
        parameters=_scale(experiment.parameters, experiment.scaled, factor),
        variants=tuple(_scale(variant, experiment.scaled, factor) for variant in experiment.variants),
    )


def configs(experiment: Experiment) -> Iterator[dict[str, Any]]:
    """For each variant the parameters with those of the variant on top."""
    for variant in experiment.variants:
        yield {**experiment.parameters, **variant}


def _scale(values: Mapping[str, Any], scaled: Sequence[str], factor: float) -> dict[str, Any]:
    return {key: max(1, round(value * factor)) if key in scaled else value for key, value in values.items()}
