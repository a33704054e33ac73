"""``mongo-tables run``: measure experiments.

``targets`` opens targets and assigns experiments to them, ``measure`` measures the experiments, and ``plan`` prints
what a run would do, with its time and its cost.
"""

from __future__ import annotations

from argparse import ArgumentParser

from mongo_tables.commands.measurement_options import (
    add_course,
    add_machines,
    add_seed,
    count,
    duration,
    positive,
    rates,
    scale,
    slice_length,
)
from mongo_tables.files.process import ATLAS_CLIENT, OUTPUT_VARIABLE, SERVERS_VARIABLE, TARGET_VARIABLE

DESCRIPTION = "Run experiments against MongoDB and write result documents, which the tables read."
EPILOG = f"""\
examples:
  mongo-tables run insert_docsize --dry-run             what it would do: documents, bytes, minutes
  mongo-tables run insert_docsize --scale 0.01          one hundredth of it, on a replica set of its own
  mongo-tables run --all --profile quick                a first look at everything; its rows and pages are
                                                        marked as quick
  mongo-tables run --all --profile publish --time 50m   for conclusions, in parts; then again with --resume
  mongo-tables run 'lesson_*' --scale 0.001             all experiments with this prefix
  mongo-tables run ./mine.toml                          an experiment file of yours
  mongo-tables run insert_docsize --target mongodb://…  on an existing deployment
  mongo-tables run insert_docsize --target a=mongodb://… --target b=mongodb://…
                                                        two deployments side by side, in the same blocks
  mongo-tables run insert_instancesize --target M30=mongodb://… --target M40=mongodb://…
                                                        variants of two machines, each on its own
  mongo-tables run insert_idtype_control --scale 0.02    the control of an experiment: everything is in the cache
  mongo-tables run query_full --target old=local:/opt/7.0/bin/mongod --target new=local:/opt/8.0/bin/mongod
                                                        two programs side by side, with what can be concluded
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
{TARGET_VARIABLE} for --target (with blanks between several NAME=WHERE), {OUTPUT_VARIABLE} for --output.

Variants are measured in blocks: each once, in a new random order, and from three blocks on the reference, with which
the others are compared, twice. A block in which another process used the machine is measured again until --time is
over.

A run creates its own database on the target, and drops it at the end; it never touches another. Rows go to
FOLDER/results (or to the database of a connection string), replaced rows to results_history, and the figures that the
source of the experiment published to published. `mongo-tables init` then writes a page with the rows.

On a deployment with users the role readWriteAnyDatabase is enough, or readWrite on the experiment's database. With
clusterMonitor rows also have the servers' counters, machine, members and cache; hostManager permits fsync before each
window. Each row lists the facts that the run could not query (servers.not_known), and the machine properties that its
variant requires but did not get (experiment.not_varied). Variants that are equal work on the target are measured once;
--as-is measures all.

On Atlas (so far tested only with a simulated Atlas): atlas:PROJECT is the id of a project whose access list has this
machine, followed by the settings region, version, tier, disk, iops, gb, unless variant or experiment set them.
The environment has the credentials of a service account: {ATLAS_CLIENT[0]}, {ATLAS_CLIENT[1]}.

exit status: 0 all rows are written (also if --all skips experiments that cannot run with these options, and says so),
2 some rows are missing, 130 interrupted
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the options for the experiments, their amount, their course, and the maximum cost of clusters."""
    _add_what(parser)
    add_course(parser)
    _add_how_much(parser)
    _add_how(parser)
    add_machines(parser)
    parser.add_argument(
        "--max-cost", type=positive, metavar="USD",
        help="maximum cost of clusters on Atlas; the run stops before its first call to Atlas if it may cost more "
        "or if a price is unknown",
    )  # fmt: skip
    parser.add_argument(
        "--prices", metavar="FILE",
        help="prices of clusters on Atlas, with their date (default: those of the published figures)",
    )  # fmt: skip


def _add_what(parser: ArgumentParser) -> None:
    parser.add_argument(
        "experiment",
        nargs="*",
        help="name of an experiment (see mongo-tables experiments), a pattern of names such as 'insert_*', or a "
        "file *.toml",
    )
    parser.add_argument("--all", action="store_true", help="all experiments that come with mongo-tables")
    parser.add_argument(
        "--target", metavar="WHERE", action="append",
        help="local (default: a replica set of three on this machine, started and removed by the run), "
        "local:PATH with that mongod, a version such as 5.0 for the newest such server in the folder that "
        f"{SERVERS_VARIABLE} names (VERSION/bin/mongod), local?SETTING=VALUE&… with settings, "
        "atlas:PROJECT for clusters made on Atlas, or a connection string; may be repeated as "
        "NAME=WHERE: targets are measured side by side, or each measures the variants whose machine has its "
        f"name; without this option, the value of the variable {TARGET_VARIABLE}",
    )  # fmt: skip
    parser.add_argument(
        "--as-is", action="store_true",
        help="measure variants that require other machines on the target's machine, even if they are equal work there",
    )  # fmt: skip


def _add_how_much(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--profile", choices=("quick", "publish"),
        help="preset for options you do not give: quick, a first look (--scale 0.001 --seconds 0.55 --repeats 1, and "
        "windows are not lengthened), or publish, for conclusions (--scale 0.01 --seconds 0.7, 2 for batches, 5 for "
        "work that paces itself, --repeats 20, up to 40 until every ratio is known to 6 %%); rows and pages name it",
    )  # fmt: skip
    parser.add_argument(
        "--scale", type=scale, metavar="FACTOR",
        help="multiply data, time and the local target's cache by this, for example 0.01 (default: 1)",
    )  # fmt: skip
    parser.add_argument("--seconds", type=positive, metavar="N", help="end each timed window after N seconds")
    parser.add_argument(
        "--duration", type=duration, metavar="TIME",
        help="length of each timed window, in place of the experiment's setting: 90s, 30m, 1h, 1d",
    )  # fmt: skip
    parser.add_argument(
        "--repeats", type=count, metavar="N",
        help="measure each variant N times, once in each of N blocks, and from three blocks on the reference twice "
        "in each; the row is the median",
    )  # fmt: skip
    parser.add_argument(
        "--slices", type=slice_length, metavar="MS",
        help="with several targets, also let them take turns every MS milliseconds, within one window of each block: "
        "finer than blocks for requests much shorter than that, for example 40; from 1 to 1000",
    )  # fmt: skip
    add_seed(parser)


def _add_how(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--rate", dest="rates", type=rates, metavar="N[,N…]", default=(),
        help="send N operations per second on a schedule; latency counts from the scheduled time; several numbers are "
        "steps of the window (default: as many as possible)",
    )  # fmt: skip
    parser.add_argument(
        "--arrivals", choices=("even", "poisson"), default="even",
        help="with --rate, when operations start: evenly (default), or at random like those of many users",
    )  # fmt: skip
    parser.add_argument(
        "--on-error", choices=("stop", "reconnect"), default="stop",
        help="when a connection breaks: stop at once (default), or reopen it, continue, and record the time without "
        "service in the row",
    )  # fmt: skip
