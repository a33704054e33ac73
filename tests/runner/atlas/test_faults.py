"""What may go wrong with Atlas while a run works there: one line says it, the exit status is 2, and no more is paid."""

from __future__ import annotations

import os
import re
import signal
import time
from typing import NamedTuple

import pytest

from mongo_tables.cli import main
from mongo_tables.files.process import ATLAS_CLIENT
from mongo_tables.runner.atlas.api import ATTEMPTS
from mongo_tables.runner.atlas.target import AtlasTarget
from tests.runner.atlas.fake import SECRET, Fault
from tests.runner.atlas.foreign import FOREIGN, add_foreign, check_foreign_alone, foreign_of
from tests.runner.atlas.project import hardware_of
from tests.runner.atlas.test_lifecycle import PRICES, WHERE, is_empty
from tests.signals import heeded

EXPERIMENT = """\
name = "tiny"
title = "A few documents"
workload = "insert"
repeats = 1
scaled = ["totalDocsToInsert"]

[parameters]
database = "mongo_tables_tiny"
collection = "inserts"
numberOfThreads = 2
writeBatchSize = 5
docSizeKB = 1.0
totalDocsToInsert = 60

[[variants]]
instance = { atlasInstanceType = "M50", atlasDiskType = "PROVISIONED", atlasIOPS = 3000, atlasDiskSizeGB = 200 }

[[variants]]
instance = { atlasInstanceType = "M60", atlasDiskType = "PROVISIONED", atlasIOPS = 3000, atlasDiskSizeGB = 200 }
"""
FOR_EVER = 9999
ALLOWED = 4.2
"""Dollars: a little more than the run may cost."""


class Wrong(NamedTuple):
    """What goes wrong, what is said of it, and whether something is left."""

    name: str
    said: str
    happens: object
    left: bool = False
    arguments: tuple[str, ...] = ()
    where: str = WHERE


def answers(asked, status=None, times=1, code="", **more):
    """Have a request be answered so."""
    body = {"error": status, "errorCode": code, "detail": "As told.", "reason": "Told"}
    return lambda fake, _: fake.faults.append(Fault(asked, status, body, times=times, **more))


def alters(asked, change):
    """Have an answer be another."""

    def happen(fake, _):
        def altered(this, body):
            if this.startswith(asked) and isinstance(body, dict):
                change(body)
            return body

        fake.alter = altered

    return happen


def takes(**times):
    def happen(fake, _):
        for name, value in times.items():
            setattr(fake.project.times, name, value)

    return happen


def in_window(change):
    """Have it happen to the cluster while a window is measured."""

    def happen(fake, monkeypatch):
        check = AtlasTarget.check

        def after_change(self):
            for name in fake.project.clusters.keys() - FOREIGN:
                change(fake, fake.project.clusters[name])
            check(self)

        monkeypatch.setattr(AtlasTarget, "check", after_change)

    return happen


def wrong_password(fake, _):
    make = fake.project.make_user
    fake.project.make_user = lambda body: make({**body, "password": "another one"})


def resizes(fake, cluster):
    resizes_to(cluster.body, "M80")


def vanishes(fake, cluster):
    cluster.vanishes = fake.time.now()


def goes_down(times):
    """Have so many requests be answered with 500 once a cluster is ordered."""

    def happen(fake, _):
        create = fake.project.create

        def ordered(body):
            fake.faults.append(Fault("(GET|DELETE) clusters/.*", 500, {"error": 500}, times=times))
            return create(body)

        fake.project.create = ordered

    return happen


def ends_early(fake, _):
    """Somebody else removes the cluster while it is made."""
    fake.project.times.plan = [(0, "CREATING"), (200, "DELETING"), (900, "GONE")]


WRONG = [
    Wrong("secret", "Atlas refuses POST token with 401, invalid_client: The client is not known", lambda fake, patch: patch.setenv(ATLAS_CLIENT[1], "mdb_sa_sk_of_another")),
    Wrong("no-token", "the answer to POST token has no token", answers("POST /api/oauth/token", 200)),
    Wrong("token-500", "Atlas refuses POST token with 500", answers("POST /api/oauth/token", 500, FOR_EVER)),
    Wrong("project", "Atlas refuses POST clusters with 404, GROUP_NOT_FOUND", lambda fake, _: None, where=f"atlas:{'f' * 24}"),
    Wrong("rights", "Atlas refuses POST clusters with 403, CLOUD_FORBIDDEN: As told.", answers("POST clusters", 403, code="CLOUD_FORBIDDEN")),
    Wrong("payment", "Atlas refuses POST clusters with 402, NO_PAYMENT_INFORMATION_FOUND", answers("POST clusters", 402, code="NO_PAYMENT_INFORMATION_FOUND")),
    Wrong("region", "Atlas refuses POST clusters with 400, INVALID_REGION", answers("POST clusters", 400, code="INVALID_REGION")),
    Wrong("version", "Atlas refuses POST clusters with 406, INVALID_VERSION_DATE", answers("POST clusters", 406, code="INVALID_VERSION_DATE")),
    Wrong("conflict", "Atlas refuses POST clusters with 409, DUPLICATE_CLUSTER_NAME", answers("POST clusters", 409, code="DUPLICATE_CLUSTER_NAME")),
    Wrong("rate", "Atlas refuses POST clusters with 429, RATE_LIMITED", answers("POST clusters", 429, FOR_EVER, "RATE_LIMITED")),
    Wrong("order-500", "Atlas refuses POST clusters with 500, UNEXPECTED_ERROR", answers("POST clusters", 500, FOR_EVER, "UNEXPECTED_ERROR")),
    Wrong("order-cut", "Atlas does not answer POST clusters: the connection was cut", answers("POST clusters", None, FOR_EVER, done=True)),
    Wrong("page", "Atlas does not answer POST clusters: the answer cannot be read", answers("POST clusters", 200, FOR_EVER, content=b"<html>")),
    Wrong("moved", "Atlas refuses POST clusters with 302", answers("POST clusters", 302, headers={"Location": "/"})),
    Wrong("wait-500", "Atlas refuses GET clusters/mongo-tables-RUN-1 with 500", goes_down(ATTEMPTS)),
    Wrong("down", "Atlas refuses GET clusters/mongo-tables-RUN-1 with 500", goes_down(FOR_EVER), left=True),
    Wrong("slow", "the cluster mongo-tables-RUN-1 is still CREATING after 60 minutes", takes(creation=9 * 3600)),
    Wrong("dear", "have cost about 4.## USD, and --max-cost is 4.2", takes(creation=3000), arguments=("--max-cost", str(ALLOWED))),
    Wrong("deleting", "the cluster mongo-tables-RUN-1 is DELETING while this run waits for it", ends_early),
    Wrong("vanished", "the cluster mongo-tables-RUN-1 is gone from the project", takes(vanishes_after=300)),
    Wrong("other-tier", "differs from the requested one: tier is M10, not M50", alters("GET clusters/", lambda body: resizes_to(body, "M10"))),
    Wrong("no-hosts", "is still IDLE, and Atlas lists no hosts of it, after 60 minutes", alters("GET clusters/", lambda body: body.pop("connectionStrings", None))),
    Wrong("plain", "would not be encrypted", alters("GET clusters/", lambda body: body.update(connectionStrings={"standard": "mongodb://db.example.com:27017/?replicaSet=x"}))),
    Wrong("sign-in", "the database user of the cluster cannot sign in: OperationFailure: Authentication failed", wrong_password),
    Wrong("user", "Atlas refuses POST databaseUsers with 400, INVALID_ROLE", answers("POST databaseUsers", 400, code="INVALID_ROLE")),
    Wrong("resized", "was changed while it was measured: tier is M80, not M50", in_window(resizes)),
    Wrong("gone", "the cluster mongo-tables-RUN-1 is gone from the project", in_window(vanishes)),
    Wrong("deletion", "could not be removed: it is still there after 30 minutes", takes(failing_deletions=FOR_EVER), left=True),
    Wrong("protected", "could not be removed: Atlas refuses DELETE clusters/mongo-tables-RUN-1 with 400, CANNOT_TERMINATE", answers("DELETE clusters/.*", 400, FOR_EVER, "CANNOT_TERMINATE"), left=True),
    Wrong("user-stays", "Atlas refuses DELETE databaseUsers/admin/mongo-tables-RUN-1 with 403", answers("DELETE databaseUsers/.*", 403, FOR_EVER), left=True),
]  # fmt: skip


def resizes_to(body, tier):
    hardware_of(body)["instanceSize"] = tier


@pytest.fixture
def files(tmp_path):
    """An experiment and prices."""
    experiment, prices = tmp_path / "tiny.toml", tmp_path / "prices.toml"
    experiment.write_text(EXPERIMENT, encoding="utf-8")
    prices.write_text(PRICES, encoding="utf-8")
    return experiment, prices


def run(files, where, *arguments):
    _, prices = files
    return begin(files, where, "--prices", str(prices), "--processes", "1", "--max-cost", "60", *arguments)


def begin(files, where, *arguments):
    """Run the experiment with what the test says of prices and of what may be spent."""
    experiment, _ = files
    output = str(experiment.parent / "out")
    return main(["run", str(experiment), "--target", where, "--output", output, *arguments])


@pytest.mark.parametrize("wrong", WRONG, ids=lambda one: one.name)
def test_what_goes_wrong_is_one_line_and_ends_what_is_paid_for(usable, files, wrong, monkeypatch, capsys):
    usable.faulty = True
    add_foreign(usable.project)
    before = foreign_of(usable.project)
    with monkeypatch.context() as patch:
        wrong.happens(usable, patch)
        assert run(files, wrong.where, *wrong.arguments) == 2
    told = capsys.readouterr()
    lines = [line for line in told.err.splitlines() if line.startswith("mongo-tables: ")]
    assert len(lines) == 1
    assert told.out in ("", "tiny: 2 rows\n")
    check_said(lines[0], wrong.said)
    assert "Traceback" not in told.err
    assert SECRET not in told.err
    assert told.err.count(lines[0].removeprefix("mongo-tables: ")) == 1
    assert ("remove the resources called mongo-tables-" in told.err) == wrong.left
    if wrong.left:
        assert foreign_of(usable.project) == before
    else:
        check_foreign_alone(usable.project, before)


def check_said(line, said):
    """A name has a part that is drawn, and so is which variant comes first."""
    pattern = re.escape(said)
    for word, drawn in (("RUN", "[0-9a-f]{6}"), (r"\#\#", r"\d\d"), ("M50", "M[56]0")):
        pattern = pattern.replace(word, drawn)
    assert re.search(pattern, line), line


def test_a_run_that_is_interrupted_removes_its_cluster_and_says_130(usable, files, monkeypatch, capsys):
    def interrupt(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(AtlasTarget, "check", interrupt)
    assert run(files, WHERE) == 130
    assert is_empty(usable)
    assert "--resume" in capsys.readouterr().err


@pytest.fixture
def signalled(usable):
    """Has this process be sent signals while it waits for the answer to the deletion of the last cluster."""

    def send(*signals):
        def altered(asked, body):
            if asked.startswith("DELETE clusters/") and asked.endswith("-2"):
                for one in signals:
                    os.kill(os.getpid(), one)
                    deadline = time.monotonic() + 60
                    # One is taken, which restores the handlers, before the next comes.
                    while getattr(signal.getsignal(one), "__name__", "") == "take":
                        assert time.monotonic() < deadline
                        time.sleep(0.01)
            return body

        usable.alter = altered

    with heeded():
        yield send


@pytest.mark.parametrize("one", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_first_signal_while_things_are_removed_ends_nothing(usable, files, signalled, one, capsys):
    signalled(one)
    assert run(files, WHERE) == 0
    assert is_empty(usable)
    told = capsys.readouterr().err
    assert told.count("Atlas: removing the run's resources; press Ctrl-C once more to keep them") == 1
    assert "may be left" not in told


def test_the_second_signal_leaves_what_is_there_and_says_so(usable, files, signalled, capsys):
    signalled(signal.SIGHUP, signal.SIGTERM)
    assert run(files, WHERE) == 130
    assert usable.project.users
    told = capsys.readouterr().err
    assert "press Ctrl-C once more" in told
    assert "resources of this run may be left; remove the resources called mongo-tables-" in told


def test_a_signal_that_is_ignored_stays_so_while_things_are_removed(usable, files, signalled, capsys):
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    signalled(signal.SIGHUP, signal.SIGHUP)
    assert run(files, WHERE) == 0
    assert is_empty(usable)
    assert "press Ctrl-C" not in capsys.readouterr().err


def test_a_run_that_is_interrupted_says_what_it_cannot_remove(usable, files, monkeypatch, capsys):
    def interrupt(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(AtlasTarget, "check", interrupt)
    usable.faults.append(Fault("DELETE clusters/.*", 400, {"errorCode": "PROTECTED"}, times=FOR_EVER))
    assert run(files, WHERE) == 130
    told = capsys.readouterr().err
    assert "could not be removed: Atlas refuses DELETE" in told
    assert "remove the resources called mongo-tables-" in told


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "a run on Atlas costs money, here up to 4."),
        (("--max-cost", "1"), "the run may cost 4."),
        (("--max-cost", "60", "--prices", "nowhere.toml"), "the prices nowhere.toml cannot be read"),
    ],
)
def test_nothing_is_asked_before_what_it_costs_is_known_and_allowed(usable, files, arguments, said, capsys):
    _, prices = files
    assert begin(files, WHERE, "--prices", str(prices), *arguments) == 2
    assert said in capsys.readouterr().err
    assert usable.asked() == []


def test_the_cost_that_is_said_is_enough_to_allow(usable, files, capsys):
    _, prices = files
    assert begin(files, WHERE, "--prices", str(prices)) == 2
    hint = re.search(r"allow this cost with --max-cost ([0-9.]+)", capsys.readouterr().err)
    assert begin(files, WHERE, "--prices", str(prices), "--processes", "1", "--max-cost", hint[1]) == 0


def test_a_price_that_is_not_known_stops_the_run_before_the_first_call(usable, files, capsys):
    assert begin(files, WHERE, "--max-cost", "999") == 2
    assert (
        "the price of M60, PROVISIONED 3000/s, 200 GB, EU_WEST_1, MongoDB 8.0 is not known: the prices of"
        in capsys.readouterr().err
    )
    assert usable.asked() == []


def test_the_cost_that_was_allowed_is_more_than_what_was_paid(usable, files, capsys):
    assert run(files, WHERE) == 0
    paid = usable.project.cost_until(usable.time.now(), lambda hardware: 4.5)
    assert 1 < paid < ALLOWED


def test_a_dry_run_says_what_it_may_cost_and_makes_no_call(usable, files, monkeypatch, capsys):
    for name in ATLAS_CLIENT:
        monkeypatch.delenv(name)
    assert run(files, WHERE, "--dry-run") == 0
    assert usable.asked() == []
    assert re.search(r"all  up to 4\.\d\d USD, by the prices of a test", capsys.readouterr().out)
