"""The options of the commands that measure experiments, and of those that compare measurements.

To start quickly, the module imports nothing that does the work of a command.
"""

from __future__ import annotations

import re
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from mongo_tables.commands.options import (
    count,
    duration,
    positive,
    rates,
    scale,
    seed,
    slice_length,
    slice_length_or_none,
)
from mongo_tables.files.process import ATLAS_CLIENT, OUTPUT_VARIABLE, SERVERS_VARIABLE, TARGET_VARIABLE

_RUN: Final = "Runs experiments against MongoDB and writes result documents, which the tables read."
_RUN_EPILOG: Final = f"""\
Examples:
  mongo-tables run insert_docsize --dry-run             what it would do: documents, bytes, minutes
  mongo-tables run insert_docsize --scale 0.01          one hundredth of it, on a replica set of its own
  mongo-tables run --all --profile quick                a first look at all experiments; rows and pages
                                                        are marked as quick
  mongo-tables run --all --profile publish --time 50m   for conclusions, in parts; then again with --resume
  mongo-tables run 'lesson_*' --scale 0.001             all experiments with this prefix
  mongo-tables run ./mine.toml                          your own experiment file
  mongo-tables run insert_docsize --target mongodb://…  on an existing deployment
  mongo-tables run insert_docsize --target a=mongodb://… --target b=mongodb://…
                                                        two deployments side by side, in the same blocks
  mongo-tables run insert_instancesize --target M30=mongodb://… --target M40=mongodb://…
                                                        variants of two machines, each on its own
  mongo-tables run insert_idtype_control --scale 0.02    the control of an experiment: all data is in the cache
  mongo-tables run query_full --target old=local:/opt/7.0/bin/mongod --target new=local:/opt/8.0/bin/mongod
                                                        two programs side by side, with conclusions
  mongo-tables run server_versions --target 6.0 --target 5.0 --target 4.4
                                                        three versions, from the folder {SERVERS_VARIABLE}
  mongo-tables run query_full --target 'large=local?cacheGB=1' --target 'small=local?cacheGB=0.25'
                                                        two settings; also members, oplogMB, setParameter.NAME
  mongo-tables run ycsb_core --target mongodb://… --load-machines tls://a.example:8786
                                                        two machines load a deployment, as one client
  mongo-tables run insert_iops --target atlas:PROJECT --dry-run
                                                        clusters on Atlas: what they may cost
  mongo-tables run insert_iops --target atlas:PROJECT --max-cost 60
                                                        runs it: a cluster for each machine, always removed

Pass a connection string with a password in the environment, because everybody can read the list of processes:
{TARGET_VARIABLE} for --target (with spaces between several NAME=WHERE), {OUTPUT_VARIABLE} for --output.

Variants are measured in blocks: each block measures each variant once, in random order. With three or more blocks, each
block also measures the reference, with which the others are compared, a second time. A block in which another process
used the machine is measured again, until the time limit (--time) is reached.

A run creates its own database on the target, and drops it at the end; it never touches any other. Rows go to
FOLDER/results (or to the database of a connection string), and replaced rows to results_history. The figures that the
source of the experiment published go to the collection published. `mongo-tables init` then writes a page with the rows.

On a deployment with users, the role readWriteAnyDatabase is enough, or readWrite on the experiment's database. With the
role clusterMonitor, rows also have the servers' counters, machine, members and cache; the role hostManager permits
fsync before each window. Each row lists facts that the run could not query (servers.not_known), and properties of
machines that its variant requires but the target does not have (experiment.not_varied). If several variants are the
same work on the target, only one is measured; --as-is measures all.

Runs on Atlas have so far been tested only with a simulated Atlas. In atlas:PROJECT, PROJECT is the id of a project
whose access list contains this machine. Add the settings region, version, tier, disk, iops and gb, unless the variant
or the experiment has them. The environment must contain the credentials of a service account: {ATLAS_CLIENT[0]}
and {ATLAS_CLIENT[1]}.

Exit status: 0 if all rows are written (--all may skip experiments that cannot run with these options, with a message),
2 if some rows are missing, 130 if the run is interrupted.
"""


def _run(parser: ArgumentParser) -> None:
    parser.description, parser.epilog = _RUN, _RUN_EPILOG
    _add_what(parser)
    _add_course(parser)
    _add_how_much(parser)
    _add_how(parser)
    _add_machines(parser)
    parser.add_argument(
        "--max-cost", type=positive, metavar="USD",
        help="maximum cost of clusters on Atlas; the run stops before its first call to Atlas if it may cost more "
        "or if a price is unknown",
    )  # fmt: skip
    parser.add_argument(
        "--prices", metavar="FILE",
        help="file with the prices of clusters on Atlas and their date (default: the prices of the published figures)",
    )  # fmt: skip


def _add_what(parser: ArgumentParser) -> None:
    parser.add_argument(
        "experiment",
        nargs="*",
        help="the name of an experiment (see mongo-tables experiments), a pattern of names such as 'insert_*', or a "
        "file *.toml",
    )
    parser.add_argument(
        "--all", action="store_true", help="measure all experiments that come with mongo-tables"
    )
    parser.add_argument(
        "--target", metavar="WHERE", action="append",
        help="local (default: a replica set of three on this machine, started and removed by the run), "
        "local:PATH for another mongod, a version such as 5.0 for the newest such server in the folder "
        f"{SERVERS_VARIABLE} (VERSION/bin/mongod), local?SETTING=VALUE&… for settings, atlas:PROJECT for clusters "
        "that the run creates on Atlas, or a connection string; may be repeated as NAME=WHERE, to measure several "
        "targets side by side; if the variants of an experiment name machines, a target measures the variants whose "
        f"machine is called NAME; without this option, the value of the variable {TARGET_VARIABLE}",
    )  # fmt: skip
    parser.add_argument(
        "--as-is", action="store_true",
        help="measure all variants that require other machines, even if they are the same work on the target's machine",
    )  # fmt: skip


def _add_how_much(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--profile", choices=("quick", "publish"),
        help="set the defaults of other options. quick, for a first look: --scale 0.001 --seconds 0.55 --repeats 1, "
        "and windows are not lengthened. publish, for conclusions: --scale 0.01, --seconds 0.7 (2 for batches, 5 for "
        "work that paces itself), --repeats 20, then up to 40 until every ratio is known within 6 %%. Rows and pages "
        "name the profile",
    )  # fmt: skip
    parser.add_argument(
        "--scale", type=scale, metavar="FACTOR",
        help="multiply data, time and the local target's cache by FACTOR, for example 0.01 (default: 1)",
    )  # fmt: skip
    parser.add_argument("--seconds", type=positive, metavar="N", help="end each timed window after N seconds")
    parser.add_argument(
        "--duration", type=duration, metavar="TIME",
        help="length of each timed window, instead of the experiment's setting: 90s, 30m, 1h, 1d",
    )  # fmt: skip
    parser.add_argument(
        "--repeats", type=count, metavar="N",
        help="measure each variant once in each of N blocks; rows are medians; with three or more blocks, each block "
        "measures the reference twice",
    )  # fmt: skip
    parser.add_argument(
        "--slices", type=slice_length, metavar="MS",
        help="with several targets: in each block, also measure windows in which two targets take turns, each for a "
        "slice of MS milliseconds (1 to 1000, for example 40); this comparison is finer if requests are much shorter "
        "than a slice",
    )  # fmt: skip
    _add_seed(parser)


def _add_how(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--rate", dest="rates", type=rates, metavar="N[,N…]", default=(),
        help="send N operations per second on a schedule, and measure latency from the scheduled time; with "
        "several numbers, the rate changes in equal steps of the window (default: as many operations as possible)",
    )  # fmt: skip
    parser.add_argument(
        "--arrivals", choices=("even", "poisson"), default="even",
        help="with --rate: start operations at equal intervals (default), or at random times, as many users do",
    )  # fmt: skip
    parser.add_argument(
        "--on-error", choices=("stop", "reconnect"), default="stop",
        help="if a connection breaks: stop (default), or reopen it, continue, and record the time without service in "
        "the row",
    )  # fmt: skip


_EXPERIMENTS: Final = "Lists the experiments that come with mongo-tables, or describes the named ones."
_EXPERIMENTS_EPILOG: Final = """\
Examples:
  mongo-tables experiments                    list all
  mongo-tables experiments insert_docsize     what it measures, and its variants
  mongo-tables experiments --published        what others published for them, into fixtures/
  mongo-tables experiments --fingerprint      their counters and ranges, into the rows in fixtures/"""


def _experiments(parser: ArgumentParser) -> None:
    parser.description, parser.epilog = _EXPERIMENTS, _EXPERIMENTS_EPILOG
    parser.add_argument("name", nargs="*", help="an experiment to describe, or a file *.toml")
    parser.add_argument(
        "--published", action="store_true",
        help="write the figures that others published for the named experiments (default: all) into the collection "
        "`published`, and the effect of each parameter's size into the collection `parameters`, so that pages can "
        "show them; a run does this for its experiments",
    )  # fmt: skip
    parser.add_argument(
        "--fingerprint", action="store_true",
        help="recompute the fingerprints of rows with the current counters and ranges of the named experiments "
        "(default: all); a run does this for its rows",
    )  # fmt: skip
    parser.add_argument(
        "--output", default="fixtures", metavar="WHERE",
        help="with --published and --fingerprint: a folder of fixtures, or the connection string of the results "
        "database (default: fixtures)",
    )  # fmt: skip


_CALIBRATE: Final = (
    "Compares equal work with itself, to measure how often this machine and target wrongly show a difference, and\n"
    "how small a slowdown they detect."
)
_CALIBRATE_EPILOG: Final = """\
Each workload is compared with itself in pairs, in blocks like the rows of an experiment. The verdicts faster and slower
are false alarms. To measure the power, the speeds of one side are multiplied by 1 minus a slowdown: the power is the
share of pairs with the verdict slower. Workloads that can alternate in slices (run --slices) also do so.
The collection `calibration` has a document for each workload, which is written after each group of ten pairs.

Examples:
  mongo-tables calibrate --dry-run                       how long it takes
  mongo-tables calibrate --time 30m                      stop after 30 minutes
  mongo-tables calibrate --time 30m --resume             continue from there
  mongo-tables calibrate updates --pairs 20              one workload
  mongo-tables calibrate --slices 0                      without slices
  mongo-tables calibrate --target mongodb://…            on an existing deployment
  mongo-tables calibrate --target mongodb://… --load-machines tls://a.example:8786
                                                         loaded by two machines, as in run

Exit status: 0 if all pairs are measured, 2 if some are missing or the time limit is reached, 130 if the command is
interrupted.
"""


def _calibrate(parser: ArgumentParser) -> None:
    parser.description, parser.epilog = _CALIBRATE, _CALIBRATE_EPILOG
    parser.add_argument("workload", nargs="*", help="name of a workload (default: all)")
    parser.add_argument(
        "--target", metavar="WHERE", action="append",
        help="local (default: a replica set of three on this machine, started and removed by the command), or "
        f"another target as for `mongo-tables run`; without this option, the value of the variable {TARGET_VARIABLE}",
    )  # fmt: skip
    parser.add_argument(
        "--pairs",
        type=count,
        metavar="N",
        help="measure N pairs of each workload (default: 200 pairs in total)",
    )
    parser.add_argument(
        "--blocks", type=_three_or_more, metavar="N",
        help="measure each pair in N blocks, 3 or more (default: 20)",
    )  # fmt: skip
    parser.add_argument(
        "--seconds",
        type=positive,
        metavar="N",
        help="measure windows of N seconds (default: 0.7, or 2 for batches)",
    )
    parser.add_argument(
        "--slices", type=slice_length_or_none, metavar="MS",
        help="let each workload also alternate with itself in slices of MS milliseconds, from 1 to 1000, or 0 for no "
        "slices (default: 40)",
    )  # fmt: skip
    _add_seed(parser)
    _add_course(parser)
    _add_machines(parser)


def _three_or_more(text: str) -> int:
    """Parse a number of blocks, at least three.

    With fewer blocks there is no interval, and the reference is measured only once in each block.
    """
    if (value := count(text)) < 3:
        raise ArgumentTypeError(f"must be 3 or more, not {text!r}")
    return value


_COMPARE: Final = (
    "Compares rows of `mongo-tables run`: two campaigns (OLD NEW) or, within one campaign (RESULTS), its targets. If\n"
    "the campaign has only one target, it compares each row with the reference. `mongo-tables diff` compares tables\n"
    "of other documents.\n"
    "\n"
    "With --pool, it concludes from several campaigns, each of which is the result of one `mongo-tables run`. A\n"
    "finding needs two at different hours. If another CAMPAIGN also has a row of RESULTS, the row gets the field\n"
    "`campaigns`. This field has the ratio, the interval or range and the verdict over all campaigns, and the result\n"
    "of each campaign."
)
_COMPARE_EPILOG: Final = """\
The verdict of a row follows from the 95 % interval of its ratio over blocks: `faster` or `slower` if the interval
excludes 1, `no difference` if all of it is within 10 % of 1, and otherwise `not known`. Rows are judged together, so
that a table of many rows has few false alarms. Two campaigns were measured at different times, so their rows are
compared by the ratios to their references, and speeds have no verdict. With one campaign on each side, the interval
does not include how the machine varies from hour to hour. To compare servers by speed, measure them side by side:
mongo-tables run NAME --target a=mongodb://… --target b=mongodb://…

With --fail-if, a row meets `slower 5 %` if its verdict is slower and its measured ratio is 5 % slower or more. Rows
that cannot be judged are listed. Rows that are missing in NEW, or did no work, do not pass.

Five or more pooled campaigns have a 95 % interval. Two to four have the range of their 95 % intervals instead: a row is
`faster` or `slower` if it is so in each campaign. --keep stores each campaign in FOLDER/ID/results/NAME.jsonl with only
the fields that pooling needs, because a run replaces the rows of the previous one.

Examples:
  mongo-tables compare ../before/fixtures fixtures
  mongo-tables compare HEAD~1:fixtures fixtures --fail-if "slower 5 %"
  mongo-tables compare mongodb://db/january mongodb://db/june --experiment insert_docsize
  mongo-tables compare fixtures                                    targets, or rows and their reference
  mongo-tables compare fixtures --keep fixtures/campaigns          after the first campaign
  mongo-tables compare fixtures --pool fixtures/campaigns/* --keep fixtures/campaigns        and after each further one
  mongo-tables compare fixtures --pool HEAD~1:fixtures             with the results of the last revision

Exit status: 0 if rows are compared, pooled or kept; 1 if a row meets --fail-if; 2 if there is nothing to compare or to
pool, if campaigns have different work, if rows are not in the form of `run` or, with --fail-if, if no row can be judged
or a row does not pass.
"""


def _compare(parser: ArgumentParser) -> None:
    parser.description, parser.epilog = _COMPARE, _COMPARE_EPILOG
    sides = "a folder of fixtures, a REVISION:FOLDER of the Git repository, or a connection string"
    parser.add_argument(
        "old",
        metavar="OLD",
        help=f"{sides}; without NEW, the command shows the conclusions within these RESULTS",
    )
    parser.add_argument(
        "new", metavar="NEW", nargs="?", help="the results to compare with OLD, in the same forms"
    )
    parser.add_argument(
        "--experiment", action="append", metavar="NAME", help="compare only this experiment; may be repeated"
    )
    parser.add_argument("--json", action="store_true", help="print everything as one JSON document")
    parser.add_argument(
        "--fail-if", action="append", type=_condition, default=[], metavar="CONDITION",
        help="exit with 1 if a row is, for example, `slower`, at least `slower 5 %%`, `faster 5 %%`, `different 3 %%` "
        "or `not known`; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--pool", nargs="+", default=[], metavar="CAMPAIGN",
        help=f"pool RESULTS with these campaigns, and write the conclusions into the rows of RESULTS; each campaign is "
        f"{sides}",
    )  # fmt: skip
    parser.add_argument(
        "--keep", metavar="FOLDER",
        help="store RESULTS and all pooled campaigns in this folder, with only the fields that pooling needs",
    )  # fmt: skip


_VERDICTS: Final = {
    "slower": ("slower",),
    "faster": ("faster",),
    "different": ("faster", "slower"),
    "not known": ("not known",),
}


_FORM: Final = re.compile(r"(slower|faster|different)(?: +(\d+(?:\.\d+)?) *%)?|not known", re.ASCII)


_ALLOWED: Final = "`slower`, `slower 5 %`, `faster 5 %`, `different 3 %` or `not known`"


class FailCondition(NamedTuple):
    """A condition of ``--fail-if``: verdicts, and the minimum difference in per cent.

    ``text`` is the condition as the user wrote it.
    """

    verdicts: tuple[str, ...]
    percent: float
    text: str


def _condition(text: str) -> FailCondition:
    """Parse a condition such as ``slower 5 %``. Raises the error that argparse shows."""
    asked = " ".join(text.split())
    found = _FORM.fullmatch(asked)
    if found is None:
        raise ArgumentTypeError(f"must be {_ALLOWED}, not {text!r}")
    return FailCondition(_VERDICTS[found[1] or asked], float(found[2] or 0), asked)


_HISTORY: Final = (
    "Shows the speed of each row over campaigns that `mongo-tables run` measured, and where it changed."
)
_HISTORY_EPILOG: Final = """\
A change is a lasting change of level: there are two or more campaigns on each side of it, and five or more in all. A
machine drifts from hour to hour, so --ratio shows the ratio to the reference, which was measured in the same blocks;
but only the speed shows a slowdown of all rows. Campaigns of different work, or with a different processor or cache
from the newest one, are not compared with it. Rows that a later run replaced (`results_history`) are also campaigns.

A TOML file of known changes gives the reasons; `row` may be a pattern:

  [[change]]
  row = "insert_docsize: *"
  campaign = "2026-11-22T04:04:02Z"
  reason = "batches are handed out from one counter"
  ticket = "#14"

Examples:
  mongo-tables history fixtures                                 all campaigns in this folder
  mongo-tables history fixtures/campaigns/*                     campaigns in several folders
  mongo-tables history fixtures --revisions fixtures            also those in earlier commits
  mongo-tables history fixtures/campaigns/* --experiment insert_docsize --points
  mongo-tables history fixtures/campaigns/* --known changes.toml --fail     for CI
  mongo-tables history fixtures/campaigns/* --write fixtures                for pages to show

Exit status: 0 if the history is shown, 1 with --fail if a change is not known, 2 if there is nothing to show or rows
are not in the form of `run`.
"""


def _history(parser: ArgumentParser) -> None:
    parser.description, parser.epilog = _HISTORY, _HISTORY_EPILOG
    parser.add_argument(
        "campaigns", metavar="CAMPAIGN", nargs="*",
        help="a folder of fixtures, a REVISION:FOLDER of the Git repository, or a connection string",
    )  # fmt: skip
    parser.add_argument(
        "--revisions",
        metavar="FOLDER",
        help="also read FOLDER at each commit that changed it; FIRST..LAST:FOLDER limits the commits",
    )
    parser.add_argument(
        "--experiment",
        action="append",
        metavar="NAME",
        help="show only experiments with this name, or with names that match this pattern; may be repeated",
    )
    parser.add_argument(
        "--ratio", action="store_true", help="show the ratio to the reference instead of the speed"
    )
    parser.add_argument("--points", action="store_true", help="also show the figure of each campaign")
    parser.add_argument("--known", metavar="FILE", help="a TOML file of changes with a known reason")
    parser.add_argument("--fail", action="store_true", help="exit with 1 if a change has no known reason")
    parser.add_argument(
        "--write", metavar="RESULTS",
        help="write the points into the collection `history` of a folder of fixtures or a database, so that pages can "
        "show them",
    )  # fmt: skip


# -- options of several of these commands --


def _add_course(parser: ArgumentParser) -> None:
    """Add the options that all measuring commands have, such as ``--output`` and ``--resume``."""
    parser.add_argument(
        "--output", metavar="WHERE",
        help="a folder of fixtures, or the connection string of the results database (default: the value of the "
        f"variable {OUTPUT_VARIABLE}, else fixtures)",
    )  # fmt: skip
    parser.add_argument(
        "--resume", action="store_true", help="continue an interrupted run, with the same options"
    )
    parser.add_argument(
        "--progress", type=positive, metavar="N",
        help="write a line with progress and speed every N seconds, for a log",
    )  # fmt: skip
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="print what would be done and how long it would take, without doing it",
    )
    parser.add_argument(
        "--time", type=duration, metavar="TIME",
        help="start no block after this time, for example 50m; finished measurements are kept, and --resume continues",
    )  # fmt: skip
    parser.add_argument(
        "--processes", type=count, metavar="N",
        help="share the connections among N worker processes (default: one for each processor or, if a target is "
        "local, for every second processor)",
    )  # fmt: skip


def _add_seed(parser: ArgumentParser) -> None:
    """Add the seed of the random numbers."""
    parser.add_argument(
        "--seed", type=seed, default=1, metavar="N", help="seed of all random numbers (default: 1)"
    )


def _add_machines(parser: ArgumentParser) -> None:
    """Add the machines that load the target."""
    parser.add_argument(
        "--load-machines", metavar="WHERE",
        help="load the target from several machines: the workers of the Dask scheduler tls://HOST:PORT, or, with "
        "local:N, N workers on this machine; --processes then applies to each machine (default: one for each of its "
        "processors)",
    )  # fmt: skip


DECLARATIONS: Final[Mapping[str, Callable[[ArgumentParser], None]]] = {
    "run": _run,
    "experiments": _experiments,
    "calibrate": _calibrate,
    "compare": _compare,
    "history": _history,
}
"""For each command, the function that adds its description, examples and options to its parser."""
