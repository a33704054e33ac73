"""The steps of ``action.yml``, and a runner for their scripts: what GitHub would put into a script's environment."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
EXPRESSION = re.compile(r"\$\{\{ ([\w.-]+) \}\}")


def read_action() -> dict[str, Any]:
    action: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
    return action


def steps() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = read_action()["runs"]["steps"]
    return found


def step(name: str) -> dict[str, Any]:
    return next(one for one in steps() if one["name"] == name)


def defaults() -> dict[str, str]:
    """The values of expressions where a workflow says nothing: those of inputs."""
    inputs = read_action()["inputs"]
    return {f"inputs.{name}": str(about["default"]) for name, about in inputs.items()}


def run_step(
    name: str, values: Mapping[str, str], folder: Path, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run the script of one step as the runner does, in ``folder`` unless the step names another."""
    known = {**defaults(), **values}
    one = step(name)

    def filled(text: str) -> str:
        return EXPRESSION.sub(lambda found: known[found[1]], text)

    own = {key: filled(text) for key, text in one.get("env", {}).items()}
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", one["run"]],
        cwd=filled(one["working-directory"]) if "working-directory" in one else folder,
        env={**environment, **own},
        capture_output=True,
        text=True,
        check=False,
    )
