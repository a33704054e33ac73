"""``mongo-tables run``: experiments, measured."""

from __future__ import annotations

import argparse
import fnmatch
import importlib.util
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import closing, suppress
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING

from preprocessor.files.environment import OUTPUT_VARIABLE, TARGET_VARIABLE, named
from preprocessor.findings.usage import print_error as tell
from preprocessor.runner.complaints import complain
from preprocessor.runner.errors import RunnerError, TargetError
from preprocessor.runner.progress import Progress

if TYPE_CHECKING:
    from preprocessor.runner.execution import Options
    from preprocessor.runner.experiment import Experiment
    from preprocessor.runner.store import Store
    from preprocessor.runner.target import Target

EXTRA = ("greenlet", "hdrh", "psutil")
"""Modules that come with the extra ``runner``."""
LARGEST_SCALE = 1_000_000
"""With more, numbers of documents are beyond those that MongoDB has."""
_PLACES = (("target", TARGET_VARIABLE, "local"), ("output", OUTPUT_VARIABLE, "fixtures"))
"""Options that may hold a password, the variable instead of each, and what they are without either."""
EPILOG = f"""\
examples:
  mongo-tables run insert_docsize --dry-run             what it would do: documents, bytes, minutes
  mongo-tables run insert_docsize --scale 0.01          one hundredth of it, on a replica set of its own
  mongo-tables run --all --scale 0.001 --seconds 0.7    everything in about 15 minutes on two processors
  mongo-tables run 'lesson_*' --scale 0.001             all experiments whose names begin so
  mongo-tables run ./mine.toml                          an experiment file of yours
  mongo-tables run insert_docsize --target mongodb://…  on a deployment that is there already

A connection string with a password belongs into the environment, which only you can read, and not into the list of
processes, which everybody can: {TARGET_VARIABLE} for --target, {OUTPUT_VARIABLE} for --output. The servers of a local
target ask for a password that is new for each run, so that nobody else can connect to them.

A run makes a database of its own on the target, and drops it at the end; it never touches another. Rows go to
FOLDER/results (or to the database of a connection string); rows they replace go to results_history.

Some experiments ask for a machine: so many disk operations a second, so much memory. A local target gives what it can
by control groups of version 2, where you may make them (mostly: as root), and processors where there are enough. Each
row says what it got (experiment.varied) and what not (experiment.not_varied).

exit status: 0 all rows are written, 2 some could not be, 130 interrupted
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what ``run`` understands, and a help text that teaches it."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = "Run experiments against MongoDB and write result documents, which the tables read."
    parser.epilog = EPILOG
    _add_what(parser)
    _add_how_much(parser)
    _add_how(parser)


def _add_what(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "experiment",
        nargs="*",
        help="name of an experiment (see mongo-tables experiments), a pattern of names such as 'insert_*', or a "
        "file *.toml",
    )
    parser.add_argument("--all", action="store_true", help="all experiments that come with mongo-tables")
    parser.add_argument(
        "--target", metavar="WHERE",
        help="local (default: a replica set of three on this machine, started and removed by the run), or "
        f"a connection string; without it, what the variable {TARGET_VARIABLE} names",
    )  # fmt: skip
    parser.add_argument(
        "--output", metavar="WHERE",
        help="folder of fixtures, or connection string of the results database (default: what the variable "
        f"{OUTPUT_VARIABLE} names, else fixtures)",
    )  # fmt: skip
    parser.add_argument(
        "--resume", action="store_true", help="go on with a run that was interrupted; same options as before"
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, and do nothing")


def _add_how_much(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--scale", type=_scale, default=1.0, metavar="FACTOR",
        help="multiply data, time and the local target's cache by this, for example 0.01 (default: 1)",
    )  # fmt: skip
    parser.add_argument(
        "--seconds", type=_positive, metavar="N", help="end each timed window after N seconds"
    )
    parser.add_argument(
        "--repeats", type=_count, metavar="N", help="measure each variant N times; the row is the median"
    )
    parser.add_argument(
        "--seed", type=_seed, default=1, metavar="N", help="of all random numbers (default: 1)"
    )


def _add_how(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--processes", type=_count, metavar="N",
        help="worker processes that share the connections (default: half of the processors)",
    )  # fmt: skip
    parser.add_argument(
        "--client", choices=("wire", "pymongo"), default="wire",
        help="how the timed work is sent: prepared messages on PyMongo's connections (wire, the default), or "
        "PyMongo itself, which costs the client several times as much",
    )  # fmt: skip
    parser.add_argument(
        "--rate", type=_positive, metavar="N",
        help="start N operations a second, each at its time, and count latencies from there (default: as "
        "many as can be)",
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Do what the arguments say; 0 when all rows are written, 2 when they could not be, 130 on Ctrl-C."""
    _fill_in(args)
    progress = Progress(sys.stderr)
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        return _dry_run(args) if args.dry_run else _run(args, progress)
    except RunnerError as error:
        progress.clear()
        return complain(error)
    except KeyboardInterrupt:
        progress.clear()
        tell("interrupted", "what is measured is kept, and the same command with --resume goes on")
        return 130


def _fill_in(args: argparse.Namespace) -> None:
    """What no option says comes from the environment; of a password in an option everybody is warned."""
    from preprocessor.results.secrets import holds_secret

    for name, variable, default in _PLACES:
        given: str | None = getattr(args, name)
        if given is None:
            setattr(args, name, named(variable) or default)
        elif holds_secret(given):
            tell(
                f"warning: the password in --{name} stands in the list of processes, which every user of this "
                "machine can read",
                f"leave out --{name} and put the connection string into the variable {variable}",
            )


def _check_installed() -> None:
    """Raise RunnerError when what the runner needs beside the package is not there."""
    missing = [name for name in EXTRA if importlib.util.find_spec(name) is None]
    if missing:
        hint = "pip install 'mkdocs-mongo-tables[runner]'"
        raise RunnerError(f"what runs experiments is not installed: {', '.join(missing)}", hint)


def _run(args: argparse.Namespace, progress: Progress) -> int:
    _check_installed()
    from preprocessor.runner import experiment as experiments
    from preprocessor.runner.execution import Options
    from preprocessor.runner.store import open_store

    wanted = [experiments.load(name) for name in _names(args)]
    options = Options(args.scale, args.seconds, args.repeats, args.seed, args.client, args.rate)
    with closing(open_store(args.output)) as store:
        if not args.resume:
            for experiment in wanted:
                store.keep_state(experiment.name, None)
        measured = _measure(args, wanted, options, store, progress)
        # Not before: with --resume, experiments that were finished are not done again.
        for experiment in measured:
            store.keep_state(experiment.name, None)
    return 0


def _measure(
    args: argparse.Namespace,
    wanted: Sequence[Experiment],
    options: Options,
    store: Store,
    progress: Progress,
) -> Sequence[Experiment]:
    """Run the experiments that can be run so, and end what was started for them; give those that were run."""
    from preprocessor.runner.execution import execute, open_run, request
    from preprocessor.runner.journal import open_journal
    from preprocessor.runner.load import WorkerPool
    from preprocessor.runner.target import open_target

    processes = args.processes or max(1, (os.cpu_count() or 1) // 2)
    with closing(open_target(args.target)) as target:
        allowed = [one for one in wanted if _allowed(one, options, target, store, leave_out=args.all)]
        with WorkerPool(processes, partial(target.fault, patience=0)) as crew:
            for experiment in allowed:
                asked = {**request(experiment, options, target), "processes": processes}
                journal = open_journal(store, experiment.name, asked, args.resume)
                rows = execute(open_run(experiment, options, target, crew, progress), store, journal)
                print(f"{experiment.name}: {rows} rows", flush=True)
    return allowed


def _allowed(
    experiment: Experiment, options: Options, target: Target, store: Store, *, leave_out: bool
) -> bool:
    """Whether the experiment can be run so; when not, it is said to be left out, or TargetError is raised."""
    from preprocessor.runner.execution import obstacle

    found = obstacle(experiment, options, target, store)
    if found and not leave_out:
        raise TargetError(*found)
    if found:
        print(f"{found[0]}: left out, {found[1]}", flush=True)
    return found is None


def _dry_run(args: argparse.Namespace) -> int:
    from preprocessor.runner import experiment as experiments
    from preprocessor.runner.estimate import estimate, local_seconds, table

    total = 0.0
    for name in _names(args):
        experiment = experiments.load(name)
        repeats = args.repeats or experiment.repeats
        factor = experiments.scale_of(experiment, args.scale)
        scaled = experiments.scale(experiment, factor)
        estimates = estimate(scaled, factor, repeats, args.seconds)
        total += local_seconds(estimates, scaled, args.seconds, repeats)
        print(f"{experiment.name}: {experiment.title}")
        print(f"  {len(experiment.variants)} variants, each measured {repeats} times, at scale {factor:g}")
        for line in table(estimates):
            print(f"  {line}")
        if experiment.published:
            print(
                f"  time: of all windows, where it is not given at the speed of {experiment.published['source']}"
            )
    if args.target == "local":
        print(
            f"all on a local replica set with two processors, loading included: about {total / 60:.0f} minutes"
        )
    return 0


def _names(args: argparse.Namespace) -> list[str]:
    from preprocessor.runner import experiment as experiments

    known = experiments.names()
    names = known if args.all else [name for given in args.experiment for name in _matching(given, known)]
    if not names:
        raise RunnerError("which experiment?", "name one, or use --all; mongo-tables experiments lists them")
    return list(dict.fromkeys(names))  # patterns may overlap


def _matching(given: str, known: Sequence[str]) -> Sequence[str]:
    """The known names that a pattern matches; what is no pattern, or matches none, stands for itself."""
    return (fnmatch.filter(known, given) if "*" in given else []) or [given]


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _scale(text: str) -> float:
    if (value := _positive(text)) > LARGEST_SCALE:
        raise argparse.ArgumentTypeError(f"must be at most {LARGEST_SCALE:,}, not {text!r}")
    return value


def _positive(text: str) -> float:
    with suppress(ValueError):
        if 0 < (value := float(text)) < float("inf"):
            return value
    raise argparse.ArgumentTypeError(f"must be a number above 0, not {text!r}")


def _seed(text: str) -> int:
    with suppress(ValueError):
        if -(2**63) <= (value := int(text)) < 2**63:  # rows keep it
            return value
    raise argparse.ArgumentTypeError(f"must be a whole number of at most 64 bits, not {text!r}")


def _count(text: str) -> int:
    with suppress(ValueError):
        if (value := int(text)) >= 1:
            return value
    raise argparse.ArgumentTypeError(f"must be a whole number from 1 on, not {text!r}")
