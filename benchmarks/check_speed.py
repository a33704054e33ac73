"""What `mongo-tables check` costs: `python -m benchmarks.check_speed [PAGE …]`.

Prints least and median of the CPU seconds (user and system) of whole processes that take turns, so that a busy moment
of the machine hits all of them alike, beside two yardsticks: an empty Python and one that imports ``jsonschema``.
Python's bytecode is kept in a folder of the benchmark, as an installed package has it; ``--no-bytecode`` compiles all
modules every time, as a checkout does where nothing may be written.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

ONE_PAGE = "docs/index.md"
FIXTURES = "fixtures"


def _commands(pages: Sequence[str]) -> dict[str, list[str]]:
    check = ["-m", "mongo_tables.program", "check"]
    named = {
        "python -c pass": ["-c", "pass"],
        "python -c 'import jsonschema'": ["-c", "import jsonschema"],
        f"check --static {ONE_PAGE}": [*check, "--static", ONE_PAGE],
        f"check {ONE_PAGE} --results {FIXTURES}": [*check, ONE_PAGE, "--results", FIXTURES],
    }
    return {**named, **{f"check --static {Path(page).name}": [*check, "--static", page] for page in pages}}


def cpu_seconds(arguments: Sequence[str], environment: Mapping[str, str], folder: str | None = None) -> float:
    """CPU seconds, user and system, of one Python process that is started in ``folder``."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, *arguments], cwd=folder, env=environment, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(arguments)}: exit status {done.returncode}\n{done.stderr.decode()}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def environment_in(folder: str, *, bytecode: bool) -> dict[str, str]:
    """The environment of such a process, with Python's bytecode and our caches in ``folder``."""
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    kept = {"PYTHONPYCACHEPREFIX": folder} if bytecode else {"PYTHONDONTWRITEBYTECODE": "1"}
    return {**inherited, **kept}


def machine() -> str:
    """The machine in one line: processor, number of them, system, Python."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    model = models[0] if models else platform.processor() or platform.machine()
    return f"{os.cpu_count()} × {model}, {platform.system()}, Python {platform.python_version()}"


def main() -> None:
    """Print the figures."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("pages", nargs="*", metavar="PAGE", help="more pages to check without results")
    options.add_argument("-n", "--rounds", type=int, default=9)
    options.add_argument("--no-bytecode", action="store_true")
    given = options.parse_args()
    commands = _commands(given.pages)
    times: dict[str, list[float]] = {label: [] for label in commands}
    with tempfile.TemporaryDirectory() as folder:
        environment = environment_in(folder, bytecode=not given.no_bytecode)
        for number in range(given.rounds + 1):
            for label, arguments in commands.items():
                seconds = cpu_seconds(arguments, environment)
                if number:  # the first round fills the caches
                    times[label].append(seconds)
    print(f"{machine()}\n{given.rounds} rounds, CPU seconds{'least':>44}{'median':>9}")
    for label, found in times.items():
        print(f"{label:<60}{min(found):8.3f} {median(found):8.3f}")


if __name__ == "__main__":
    main()
