"""The current version of a project, and findings about figures of another version (``measured_of``)."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mongo_tables.findings.rules import finding
from mongo_tables.results.model import ResultsError
from mongo_tables.site.snapshot import PageText, ProjectVersion, Versions

if TYPE_CHECKING:
    from mongo_tables.directives.specs import MeasuredOf, PipelineSpec
    from mongo_tables.findings.finding import Finding
    from mongo_tables.site.pages import AnswersByKey

TAG: Final = "tag"
_KEYS: Final = {
    "pyproject.toml": ("project.version", "tool.poetry.version"),
    "Cargo.toml": ("package.version", "workspace.package.version"),
    "package.json": ("version",),
}
"""The paths at which each file may have the version."""
_ASKED: Final = re.compile(
    r'"measured_of"[\s>]*:[\s>]*(?:\{[^{}]*?"file"[\s>]*:[\s>]*)?"'
    rf'({TAG}|[^"\\]*\b(?:{"|".join(map(re.escape, _KEYS))}))"'
)
_VERSION: Final = re.compile(r"(?P<numbers>\d+(?:\.\d+)*)(?P<rest>[^\s+]*)")


def read_versions(pages: Iterable[PageText]) -> dict[tuple[str, str], ProjectVersion]:
    """Read the versions that pages ask for, from the nearest file in the folder of the page or above it."""
    asked = {
        (one.file, name): (one.path.absolute().parent, name)
        for one in pages
        if "measured_of" in one.text
        for name in _ASKED.findall(one.text)
    }
    read = {
        (folder, name): _read_tag(folder) if name == TAG else _read_nearest(folder, name)
        for folder, name in set(asked.values())
    }
    return {key: read[place] for key, place in asked.items()}


def _read_tag(folder: Path) -> ProjectVersion:
    from mongo_tables.results.revisions import NO_GIT, run_git  # few comments ask for the version of a tag

    done = run_git("-C", str(folder), "describe", "--tags", "--abbrev=0")
    if done.returncode == NO_GIT:
        return ProjectVersion(fault=done.stderr.decode("utf-8", "replace"))
    text = done.stdout.decode("utf-8", "replace").strip()
    return ProjectVersion(text, fault="" if text else "the page is in no Git repository with a tag")


def _read_nearest(folder: Path, name: str) -> ProjectVersion:
    for around in (folder, *folder.parents):
        if (file := around / name).is_file():
            return _read_file(file)
        if (around / ".git").exists():
            break
    return ProjectVersion(fault=f"there is no {name} in the folder of the page or above it")


def _read_file(file: Path) -> ProjectVersion:
    try:
        text = file.read_text(encoding="utf-8-sig")
        whole: Any = tomllib.loads(text) if file.suffix == ".toml" else json.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        return ProjectVersion("", file, f"{file.name} cannot be read: {error}")
    for path in _KEYS[file.name]:
        value = whole
        for key in path.split("."):
            value = value.get(key) if isinstance(value, dict) else None
        if isinstance(value, str):
            return ProjectVersion(value, file)
    return ProjectVersion("", file, f"{file.name} has no `{_KEYS[file.name][0]}`")


def version_findings(
    spec: PipelineSpec, measured: MeasuredOf, answers: AnswersByKey, versions: Versions
) -> list[Finding]:
    """Return MT339 if no document behind a figure was measured on the current version."""
    known, groups = versions.get((spec.file, measured.file)), answers.get(spec.version_query(measured).key)
    if known is None or groups is None or isinstance(groups, ResultsError):
        return []
    found = sorted((str(one["_id"]) for one in groups if one.get("_id") is not None), key=_split)
    if known.fault:
        message = f"the current version is not known: {known.fault}"
        hint = (
            "name a file, such as pyproject.toml" if measured.file == TAG else 'name another file, or "tag"'
        )
    elif not found:
        message = f"no document behind the figure has a version in the field `{measured.field}`"
        hint = f'name the field with the version: "measured_of": {{"file": "{measured.file}", "field": "…"}}'
    elif not any(_is_alike(one, known.text, measured) for one in found):
        where = "the last tag is" if measured.file == TAG else f"{measured.file} has"
        message = f"the newest result is of version {found[-1]}, and {where} {known.text}"
        tolerance = (
            "" if measured.within else ', or accept equal "minor" or "major" versions: "within": "minor"'
        )
        hint = f"measure again{tolerance}"
    else:
        return []
    return [finding("MT339", spec.file, spec.locate(("measured_of",)), message, hint)]


def _split(text: str) -> tuple[list[int], str]:
    """Return the numbers of a version, at least three, and the text after them up to a plus sign."""
    found = _VERSION.search(text)
    numbers = [int(one) for one in found["numbers"].split(".")] if found else []
    return numbers + [0] * (3 - len(numbers)), found["rest"] if found else text


def _is_alike(one: str, other: str, measured: MeasuredOf) -> bool:
    first, second = _split(one), _split(other)
    count = {"major": 1, "minor": 2}.get(measured.within)
    return first == second if count is None else first[0][:count] == second[0][:count]
