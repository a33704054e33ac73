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
  mongo-tables run --all --profile quick                a first look at all experiments; rows and pages
                                                        are marked as quick
  mongo-tables run --all --profile publish --time 50m   for conclusions, in parts; then again with --resume
  mongo-tables run 'lesson_*' --scale 0.001             all experiments with this prefix
  mongo-tables run ./mine.toml                          an experiment file of yours
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
{TARGET_VARIABLE} for --target (with blanks between several NAME=WHERE), {OUTPUT_VARIABLE} for --output.

Variants are measured in blocks: each block measures each variant once, in random order. With three or more blocks, each
also measures the reference, with which the others are compared, a second time. A block in which another process used
the machine is measured again, until --time is over.

A run creates its own database on the target, and drops it at the end; it never touches another. Rows go to
FOLDER/results (or to the database of a connection string), replaced rows to results_history, and the figures that the
source of the experiment published to published. `mongo-tables init` then writes a page with the rows.

On a deployment with users, the role readWriteAnyDatabase is enough, or readWrite on the experiment's database. With the
role clusterMonitor, rows also have the servers' counters, machine, members and cache; the role hostManager permits
fsync before each window. Each row lists facts that the run could not query (servers.not_known), and properties of
machines that its variant requires but the target does not have (experiment.not_varied). Of variants that are equal work
on the target, one is measured; --as-is measures all.

On Atlas (so far tested only with a simulated Atlas): atlas:PROJECT is the id of a project whose access list has this
machine, followed by the settings region, version, tier, disk, iops, gb, unless variant or experiment set them.
The environment has the credentials of a service account: {ATLAS_CLIENT[0]}, {ATLAS_CLIENT[1]}.

exit status: 0 all rows are written (--all may skip experiments that cannot run with these options, with a message);
2 some rows are missing; 130 interrupted
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the options for the experiments, the amount and course of measurement, and the cost of clusters."""
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
        "local:PATH for another mongod, a version such as 5.0 for the newest such server in the folder "
        f"{SERVERS_VARIABLE} (VERSION/bin/mongod), local?SETTING=VALUE&… for settings, atlas:PROJECT for clusters "
        "that the run creates on Atlas, or a connection string; may be repeated as NAME=WHERE: targets are measured "
        "side by side, or a target that has the name of a machine measures the variants of this machine; without this "
        f"option, the value of the variable {TARGET_VARIABLE}",
    )  # fmt: skip
    parser.add_argument(
        "--as-is", action="store_true",
        help="measure all variants that require other machines, even if they are equal work on the target's machine",
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
        help="with several targets, also let them alternate every MS milliseconds (1 to 1000, for example 40) within "
        "a window of each block: a finer comparison, for requests much shorter than a slice",
    )  # fmt: skip
    add_seed(parser)


def _add_how(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--rate", dest="rates", type=rates, metavar="N[,N…]", default=(),
        help="send N operations per second on a schedule, and measure latency from the scheduled time; several numbers "
        "are steps of the window (default: as many operations as possible)",
    )  # fmt: skip
    parser.add_argument(
        "--arrivals", choices=("even", "poisson"), default="even",
        help="with --rate: operations start evenly (default), or at random like those of many users",
    )  # fmt: skip
    parser.add_argument(
        "--on-error", choices=("stop", "reconnect"), default="stop",
        help="if a connection breaks: stop (default), or reopen it, continue, and record the time without service in "
        "the row",
    )  # fmt: skip
