"""A repository with a pull request, checked out as GitHub does it, and the environment that a job has there."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

EVENTS = Path(__file__).parent / "events"
COLUMNS = '"columns": ["threads", "ops"], "headers": ["Threads", "Speed"]'
PAGE = (
    "# Runs\n\n"
    '<!-- RESULT_TABLE: {"id": "speed", "collection": "runs", "sort": "threads", '
    f'{COLUMNS}, "format": {{"ops": {{"decimals": 0, "thousands": true, "unit": "ops/s"}}}}}} -->\n'
)
SITE = "site_name: Runs\nplugins:\n  - mongo-tables:\n      results: fixtures\n"


def rows(**speeds: float | str) -> str:
    """The text of a fixture file: speeds by number of threads, ``t8=30100``."""
    documents = ({"_id": name, "threads": int(name[1:]), "ops": speed} for name, speed in speeds.items())
    return "".join(json.dumps(one) + "\n" for one in documents)


class Repository(NamedTuple):
    """A folder under Git."""

    folder: Path

    def git(self, *arguments: str) -> str:
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
        done = subprocess.run(
            ["git", *identity, *arguments], cwd=self.folder, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def commit(self, files: Mapping[str, str]) -> str:
        """Write files, commit all that changed, and give the commit."""
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.git("add", "--all")
        self.git("commit", "-q", "-m", "change")
        return self.git("rev-parse", "HEAD")


def start(folder: Path, files: Mapping[str, str]) -> Repository:
    """A repository with ``files`` on its branch main."""
    folder.mkdir(parents=True, exist_ok=True)
    made = Repository(folder)
    made.git("init", "-q", "-b", "main")
    made.commit(files)
    return made


def propose(made: Repository, files: Mapping[str, str]) -> tuple[str, str]:
    """Check out what merging a branch with these files would give; the commits of main and of the branch."""
    base = made.git("rev-parse", "main")
    made.git("checkout", "-q", "-B", "changes", "main")
    head = made.commit(files)
    made.git("checkout", "-q", "--detach", "main")
    made.git("merge", "-q", "--no-ff", "-m", "merge", "changes")
    return base, head


def environment(place: Path, event: str, commits: tuple[str, str], **more: str) -> dict[str, str]:
    """What GitHub Actions set in a job for a recorded event, with the commits of the test in it."""
    told = json.loads((EVENTS / f"{event}.json").read_text())
    told["pull_request"]["base"]["sha"], told["pull_request"]["head"]["sha"] = commits
    place.mkdir(exist_ok=True)
    (place / "event.json").write_text(json.dumps(told))
    return {
        **os.environ,
        "GITHUB_ACTIONS": "true",
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_EVENT_PATH": str(place / "event.json"),
        "GITHUB_STEP_SUMMARY": str(place / "summary.md"),
        "GITHUB_OUTPUT": str(place / "output"),
        "RUNNER_TEMP": str(place),
        **more,
    }
