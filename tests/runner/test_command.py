"""``mongo-tables run``: from one command to result documents."""

from __future__ import annotations

import io
import os
import re
import signal
import time
from contextlib import suppress

import psutil
import pytest
from pymongo import MongoClient

from mongo_tables.cli import main
from mongo_tables.files.process import install_command
from mongo_tables.findings import usage
from mongo_tables.results.conclusions import block_speeds
from mongo_tables.runner import experiment, runs, slices
from mongo_tables.runner.options import PROFILES
from mongo_tables.runner.store import FileStore
from mongo_tables.runner.terminal import Progress, end_in_order
from tests.runner.processes import TINY, children_of, finish, servers_of, start, wait_until
from tests.signals import heeded


def test_a_run_without_the_extra_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(usage.EXTRAS, "runner", ("hdrh", "no_such_module"))
    assert main(["run", "insert_docsize"]) == 2
    told = capsys.readouterr().err
    assert "command run needs the extra runner" in told
    assert install_command("runner") in told


@pytest.fixture
def told(capsys):
    """Runs the command in this process, for what needs no process of its own: exit code, output, errors."""

    def run(*arguments):
        try:
            code = main(["run", *map(str, arguments)])
        except SystemExit as ended:
            code = ended.code
        return code, *capsys.readouterr()

    return run


def rows(folder):
    return FileStore(folder).rows("tiny")


def test_a_run_writes_a_row_for_every_variant_with_what_was_really_done(replica_set, tiny, tmp_path):
    code, out, err = finish(start(tiny, "--target", replica_set.uri, "--output", tmp_path, "--scale", 0.5))
    assert (code, out) == (0, "tiny: 2 rows\n"), err
    assert "105 in place of 50 in variant 2" in err
    first, second = rows(tmp_path)
    assert first["variant"]["totalDocsToInsert"] == first["work"]["documents"] <= 105
    assert first["work"]["all_documents"] == 105  # five batches of 7 for each of three connections
    assert second["collection_stats"]["count"] == 105
    assert set(second["collection_stats"]["indexSizes"]) == {"_id_", "intfield1_1"}
    assert first["work"]["bytes"] >= first["work"]["documents"] * 1000
    assert first["_id"] == {"docSizeKB": 1.0, "testname": "tiny", "totalDocsToInsert": 200}
    assert first["experiment"]["scale"] == 0.5
    assert first["client"]["scheduling"] == "normal"
    assert first["write_concern"] == {"w": "majority"}
    assert [len(row["repeats"]) for row in (first, second)] == [6, 3]  # the first is the reference
    assert 1 <= first["latency"]["count"] <= 15  # batches of 7, those in the steady part
    assert len({repeat["seed"] for repeat in first["repeats"]}) == 6
    middle = sorted(block_speeds(first).values())[1]
    speeds = [repeat["operations_per_second"] for repeat in first["repeats"]]
    assert first["work"]["operations_per_second"] == min(
        speeds, key=lambda speed: (abs(speed - middle), speed)
    )
    inserted = [row["opcounters"]["insert"] for row in (first["before_status"], first["after_status"])]
    assert 0 <= inserted[1] - inserted[0] <= 105


def test_a_second_run_replaces_rows_and_keeps_the_old_ones(replica_set, tiny, tmp_path):
    arguments = (tiny, "--target", replica_set.uri, "--output", tmp_path, "--repeats", 1)
    finish(start(*arguments, "--scale", 0.5))
    before = [row["start_time"] for row in rows(tmp_path)]
    tiny.write_text(TINY.replace("docSizeKB = 4.0", "docSizeKB = 2.0"), encoding="utf-8")
    finish(start(*arguments))
    assert [row["variant"]["docSizeKB"] for row in rows(tmp_path)] == [1.0, 2.0]
    history = (tmp_path / "results_history" / "tiny.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(history) == 2
    assert all(row["start_time"] not in before for row in rows(tmp_path))


def test_a_run_leaves_no_database_and_touches_none_that_is_not_its_own(replica_set, tiny, tmp_path):
    with MongoClient(replica_set.uri) as client:
        finish(start(tiny, "--target", replica_set.uri, "--output", tmp_path, "--repeats", 1))
        assert "mongo_tables_tiny" not in client.list_database_names()
        client["mongo_tables_tiny"].inserts.insert_one({"of": "somebody else"})
        try:
            code, _, err = finish(start(tiny, "--target", replica_set.uri, "--output", tmp_path))
            assert code == 2
            assert "was not created by mongo-tables" in err
            assert client["mongo_tables_tiny"].inserts.count_documents({}) == 1
        finally:
            client.drop_database("mongo_tables_tiny")


def test_a_time_limit_ends_the_window_and_the_row_says_what_was_done(replica_set, tiny, tmp_path):
    large = TINY.replace("= 200", "= 2_000_000").replace("= 100", "= 2_000_000")
    tiny.write_text(large, encoding="utf-8")
    arguments = ("--target", replica_set.uri, "--output", tmp_path, "--repeats", 1, "--seconds", 0.2)
    assert finish(start(tiny, *arguments))[0] == 0
    for row in rows(tmp_path):
        assert row["duration"] >= 180
        assert row["variant"]["totalDocsToInsert"] <= row["work"]["all_documents"]
        assert row["work"]["all_documents"] == row["collection_stats"]["count"] < 2_000_000


@pytest.mark.parametrize(
    "end",
    [
        lambda process: process.send_signal(signal.SIGINT),
        # A terminal that is closed says so to all processes that were started from it.
        pytest.param(lambda process: os.killpg(process.pid, signal.SIGHUP), marks=pytest.mark.thorough),
    ],
    ids=["ctrl-c", "the terminal is closed"],
)
def test_whoever_ends_a_run_does_not_wait_for_the_work_and_nothing_stays_running(tiny, tmp_path, end):
    tiny.write_text(TINY.replace("= 200", "= 50_000_000"), encoding="utf-8")
    process = start(tiny, "--output", tmp_path, start_new_session=True)
    wait_until(process, lambda: servers_of(process))
    children = children_of(process)
    time.sleep(2)
    children += children_of(process)
    end(process)
    code, _, err = finish(process)
    assert code == 130, err
    assert "interrupted" in err
    assert "Traceback" not in err
    _, alive = psutil.wait_procs(children, timeout=60)
    assert not alive


@pytest.fixture
def handlers():
    """What a test does to the handlers of signals is undone."""
    with heeded():
        yield


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_the_end_of_the_terminal_is_an_interruption_unless_it_is_to_be_outlived(handlers, capsys, number):
    def work():
        signal.raise_signal(number)

    signal.signal(number, signal.SIG_DFL)
    assert end_in_order(Progress(io.StringIO()), work) == 130
    assert "interrupted" in capsys.readouterr().err
    signal.signal(number, signal.SIG_IGN)  # as nohup does
    assert end_in_order(Progress(io.StringIO()), work) == 0


def test_a_password_of_the_target_is_never_said(tiny, tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(runs, "SELECTION_MS", 200)
    asked = [str(tiny), "--target", "mongodb://me:s3cret@127.0.0.1:1/", "--output", str(tmp_path)]
    assert main(["run", *asked]) == 2
    out, err = capfd.readouterr()
    *_, line = err.splitlines()
    assert [one for one in err.splitlines() if not one.startswith(("  hint: ", "tiny: "))] == [
        err.splitlines()[0],
        line,
    ]
    assert line.startswith("mongo-tables: 127.0.0.1:1: ")
    assert "s3cret" not in out + err


def test_results_are_not_kept_where_the_work_is_dropped(replica_set, tiny):
    results = replica_set.uri.replace("/?", "/mongo_tables_tiny?")
    code, out, err = finish(start(tiny, "--target", replica_set.uri, "--output", results))
    assert (code, out) == (2, "")
    assert "tiny drops the database 'mongo_tables_tiny' at its end, with all rows" in err


def test_windows_of_another_number_of_processes_are_not_gone_on_with(replica_set, tiny, tmp_path):
    tiny.write_text(TINY.replace("= 200", "= 2_000_000").replace("= 100", "= 2_000_000"), encoding="utf-8")
    arguments = (tiny, "--target", replica_set.uri, "--output", tmp_path, "--repeats", 2, "--seconds", 1)
    process = start(*arguments, "--processes", 1)
    wait_until(process, lambda: any((tmp_path / ".runs" / "tiny").glob("*")))
    process.kill()
    finish(process)
    code, _, err = finish(start(*arguments, "--processes", 2, "--resume"))
    assert code == 2
    assert "differs in processes" in err


def test_a_dry_run_says_what_would_be_done_and_does_nothing(told, tmp_path):
    code, out, _ = told("insert_docsize", "--dry-run", "--output", tmp_path)
    assert code == 0
    assert "25,165,824" in out
    assert "24 GiB" in out
    assert list(tmp_path.iterdir()) == []


def test_a_dry_run_says_what_is_raised_and_how_long_windows_are(told):
    _, out, _ = told("insert_docsize", "--dry-run", "--scale", 0.001)
    assert "scale 0.005 in place of 0.001" in out
    assert "100 in place of 61 in variant 5" in out
    assert "fewer" not in out
    assert " 0.0 min" not in out and "about 0" not in out
    assert "until each connection has 3 requests" in out
    _, out, _ = told("insert_docsize", "--dry-run", "--duration", "2m")
    assert "each window lasts 120 s" in out
    assert "10.0 min" not in out
    assert "36.0 min" in out  # five variants in three blocks, the reference twice in each
    _, out, _ = told("insert_docsize", "--dry-run", "--duration", "2m", "--profile", "quick")
    assert "each window lasts 120 s" in out
    assert "profile quick: each row stores its name, and pages show it" in out
    assert "windows with few requests are not lengthened" in out
    assert "until each connection has 3 requests" not in out


def test_a_dry_run_on_a_deployment_says_what_it_would_drop_there_and_touches_nothing(told, replica_set, tiny):
    with MongoClient(replica_set.uri) as client:
        client.drop_database("mongo_tables_tiny")
        before = client.list_database_names()
        code, out, _ = told(tiny, "--dry-run", "--target", replica_set.uri)
        assert code == 0
        assert "the run creates, and drops at its end: mongo_tables_tiny" in out
        assert client.list_database_names() == before


def test_a_dry_run_on_a_deployment_that_is_not_there_needs_no_answer_and_shows_no_password(told, tiny):
    uri = "mongodb://user:sesame-open@127.0.0.1:1"
    code, out, err = told(tiny, "--dry-run", "--target", uri)
    assert code == 0
    assert "the run creates, and drops at its end: mongo_tables_tiny" in out
    assert "sesame" not in out + err.replace(uri, "")


def test_a_deployment_that_is_not_there_is_waited_for_as_long_as_the_connection_string_says(
    told, tiny, tmp_path
):
    uri = "mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=200"
    code, out, err = told(tiny, "--target", uri, "--output", tmp_path, "--processes", 1)
    assert code == 2
    assert "no primary answers: 127.0.0.1:1" in out + err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["schema_load", "--rate", 5], "schema_load has its own rates"),
        (
            ["failover", "--target", "mongodb://127.0.0.1:1"],
            "use --target local, the only target that permits this",
        ),
    ],
)
def test_a_dry_run_is_refused_as_the_run_would_be(told, tmp_path, arguments, said):
    code, out, err = told(*arguments, "--dry-run", "--output", tmp_path)
    assert code == 2
    assert f"{arguments[0]}: " in out
    assert said in err


def test_a_dry_run_of_all_says_what_would_be_left_out(told, tmp_path, monkeypatch):
    monkeypatch.setattr(experiment, "names", lambda: ["failover"])
    asked = ("--all", "--dry-run", "--target", "mongodb://127.0.0.1:1", "--output", tmp_path)
    code, out, _ = told(*asked)
    assert code == 0
    assert "left out, use --target local, the only target that permits this" in out


def test_a_quick_row_says_so_and_what_is_given_goes_before_the_profile(replica_set, tiny, tmp_path):
    arguments = (tiny, "--profile", "quick", "--scale", 1, "--target", replica_set.uri, "--output", tmp_path)
    code, _, _ = finish(start(*arguments))
    assert code == 0
    for row in FileStore(tmp_path).rows("tiny"):
        asked = row["experiment"]
        assert (asked["profile"], asked["scale"], asked["seconds"], asked["repeats"]) == ("quick", 1, 0.55, 1)


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
def test_reports_that_divide_by_whole_seconds_can_do_so_with_windows_of_each_profile(profile):
    assert round(profile.seconds) >= 1
    assert round(profile.batch_seconds) >= 1
    assert round(profile.paced_seconds) >= 1


def test_there_is_no_other_profile(told):
    code, _, err = told("tiny", "--profile", "slow")
    assert code == 2
    assert "quick" in err


def test_the_profile_for_publishing_has_short_windows_longer_ones_for_batches_and_many_blocks(told):
    _, out, _ = told("ycsb_core", "insert_docsize", "--dry-run", "--profile", "publish")
    assert "6 variants, each in 20 blocks, up to 40, at scale 0.01" in out
    assert "profile publish: each row stores its name, and pages show it" in out
    assert "until each connection has 3 requests" in out
    core, docsize = out.split("insert_docsize: ")
    # Six and the reference once more, each with its warm-up.
    assert minutes_of(core) == pytest.approx(7 * 20 * 2 * 0.7 / 60, abs=0.1)
    assert minutes_of(docsize) > 2.9
    least, most = total_minutes_of(out)
    assert minutes_of(core) + minutes_of(docsize) < least < most <= 2 * least


SIDE_BY_SIDE = ("--target", "a=local", "--target", "b=local")
ELSEWHERE = ("--target", "mongodb://127.0.0.1:1")


def test_slices_with_nobody_to_take_turns_with_are_refused_and_a_dry_run_says_so_too(told, tmp_path):
    for more in ([], ["--dry-run"]):
        code, out, err = told("ycsb_core", "--slices", 40, "--output", tmp_path, *more)
        assert (code, out) == (2, "")
        assert "--slices needs several targets that alternate, but there is one" in err


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("nonsense", "'nonsense' is not an address of load machines"),
        ("tls://a.example:8786", "a local target accepts connections only from this machine"),
        ("tcp://a.example:8786", "would receive the password of the target unencrypted"),
    ],
)
def test_load_machines_that_cannot_be_are_refused_and_a_dry_run_says_so_too(where, said, told, tmp_path):
    for more in ([], ["--dry-run"]):
        code, out, err = told("delete", "--load-machines", where, "--output", tmp_path, *more)
        assert (code, out) == (2, "")
        assert said in err


@pytest.mark.parametrize(
    ("where", "more", "said"),
    [
        ("local:2", ["--processes", 1], "load machines: 2 on this machine, each with 1 process; "),
        ("tls://a.example:8786", ELSEWHERE, "load machines: the workers of tls://a.example:8786; "),
    ],
)
def test_a_dry_run_says_which_machines_would_load_and_asks_none_of_them(where, more, said, told):
    code, out, err = told("delete", "--dry-run", "--load-machines", where, *more)
    assert (code, err) == (0, "")
    assert f"\n{said}they share the connections, and are not contacted for a plan\n" in out


@pytest.mark.parametrize("length", ["0.0001", "0.9", "1001", "1e9"])
def test_slices_that_no_window_can_hold_are_refused_with_those_that_one_can(length, told):
    code, out, err = told("ycsb_core", "--dry-run", *SIDE_BY_SIDE, "--slices", length)
    assert (code, out) == (2, "")
    assert f"must be from 1 to 1000 milliseconds, not '{length}'" in err


def test_a_dry_run_reckons_with_windows_in_slices_and_says_where_there_are_none(told):
    asked = ("ycsb_core", "insert_docsize", "--dry-run", "--profile", "publish", *SIDE_BY_SIDE)
    _, plain, _ = told(*asked)
    _, out, _ = told(*asked, "--slices", 40)
    core, docsize = out.split("insert_docsize: ")
    found = re.search(r"in slices: ([0-9]+) windows of ([0-9.]+) s in each block", core)
    windows, seconds = int(found[1]), float(found[2])
    assert windows > 1
    assert seconds > slices.SECONDS  # with what warms
    assert "in slices: none, because the work of this experiment cannot take turns" in docsize
    (least, most), (shorter, _) = map(total_minutes_of, (out, plain))
    assert 1.0 < (least - shorter) * 60 / (20 * windows * seconds) < 1.5
    assert most > 1.5 * least
    assert "plus up to two repeats of each block" in out


def total_minutes_of(text):
    """From how many minutes to how many a dry run says that all takes."""
    return map(float, re.search(r"about ([0-9.]+) min to ([0-9.]+) min$", text, re.MULTILINE).groups())


def minutes_of(text):
    """What a dry run says that all windows of an experiment last."""
    return float(re.search(r"^ +all +([0-9.]+) min$", text, re.MULTILINE)[1])


def test_a_run_whose_time_is_over_says_how_to_go_on(replica_set, tiny, tmp_path):
    arguments = (tiny, "--target", replica_set.uri, "--output", tmp_path)
    code, _, err = finish(start(*arguments, "--time", "0.001s"))
    assert code == 2
    assert "the time is over: 0 of 3 blocks are measured" in err
    assert "--resume" in err


def test_a_pattern_stands_for_all_experiments_that_it_matches(told):
    code, out, _ = told("lesson_*", "insert_docsize", "--dry-run")
    assert code == 0
    named = [line.partition(":")[0] for line in out.splitlines() if not line.startswith((" ", "total on"))]
    assert named == ["lesson_indexes", "lesson_write_concern", "lesson_wtimeout", "insert_docsize"]
    code, _, err = told("nothing_*", "--dry-run")
    assert code == 2
    assert "no experiment 'nothing_*'" in err


def test_how_far_an_experiment_has_come_is_not_forgotten_by_a_run_that_leaves_it_out(
    replica_set, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(experiment, "names", lambda: ["lesson_wtimeout"])
    store = FileStore(tmp_path)
    campaign = {"id": "c", "start": "2026-11-30T00:00:00+00:00"}
    store.keep_progress("lesson_wtimeout", {"_id": 1, "request": {}, "campaign": campaign})
    asked = ["--all", "--resume", "--target", replica_set.uri, "--output", str(tmp_path)]
    assert main(["run", *asked]) == 0
    assert "left out" in capsys.readouterr().out
    assert store.progress("lesson_wtimeout") is not None


@pytest.mark.parametrize(
    ("option", "value", "wanted"),
    [
        ("--scale", "x", "a number above 0, not 'x'"),
        ("--scale", "1e300", "at most 1,000,000, not '1e300'"),
        ("--seconds", "nan", "a number above 0, not 'nan'"),
        ("--repeats", "1.5", "a whole number of 1 or more, not '1.5'"),
        ("--repeats", "0", "a whole number of 1 or more, not '0'"),
        ("--seed", str(2**63), f"a whole number of at most 64 bits, not '{2**63}'"),
    ],
)
def test_a_number_that_is_none_is_told_in_words(told, option, value, wanted):
    code, _, err = told("insert_docsize", "--dry-run", option, value)
    assert code == 2
    assert f"argument {option}: must be {wanted}" in err


def test_a_password_comes_from_the_environment_and_is_in_no_process_list(replica_set, tiny, tmp_path):
    password = replica_set.uri.partition("//")[2].partition("@")[0].partition(":")[2]
    environment = {**os.environ, "MONGO_TABLES_TARGET": replica_set.uri, "MONGO_TABLES_OUTPUT": str(tmp_path)}
    process = start(tiny, env=environment)
    listed = []

    def has_rows():
        for one in [psutil.Process(process.pid), *children_of(process)]:
            with suppress(psutil.Error):
                listed.append(" ".join(one.cmdline()))
        return bool(rows(tmp_path))

    wait_until(process, has_rows)
    code, out, err = finish(process)
    assert code == 0, err
    assert len(listed) > 2
    assert password not in "\n".join(listed)
    assert password not in out + err
    assert "warning" not in err
    assert all(password not in file.read_text() for file in tmp_path.rglob("*.json*"))


@pytest.mark.parametrize(
    ("option", "variable"), [("--target", "MONGO_TABLES_TARGET"), ("--output", "MONGO_TABLES_OUTPUT")]
)
def test_a_password_on_the_command_line_is_warned_of_with_the_variable_that_hides_it(told, option, variable):
    code, out, err = told("insert_docsize", "--dry-run", option, "mongodb://me:s3cret@host/")
    assert code == 0
    line, hint = err.splitlines()
    assert line.startswith("mongo-tables: warning: ") and f" the password in {option} " in line
    assert hint.startswith("  hint: ")
    assert variable in hint
    assert "s3cret" not in out + err


def test_an_address_without_a_password_is_not_warned_of(told):
    code, _, err = told("insert_docsize", "--dry-run", "--target", "mongodb://host/?appName=a")
    assert (code, err) == (0, "")


def test_the_help_names_the_variables_for_passwords(capsys):
    with pytest.raises(SystemExit):
        main(["run", "--help"])
    told = capsys.readouterr().out
    assert "MONGO_TABLES_TARGET" in told
    assert "MONGO_TABLES_OUTPUT" in told


def test_overlapping_patterns_run_an_experiment_once(told):
    code, out, _ = told("lesson_i*", "lesson_indexes", "--dry-run")
    assert code == 0
    assert out.count("lesson_indexes:") == 1


def test_an_experiment_with_rates_of_its_own_is_given_no_other(told, tmp_path):
    code, _, err = told("schema_load", "--rate", 5, "--output", tmp_path)
    assert code == 2
    assert err == "mongo-tables: schema_load has its own rates\n  hint: leave out --rate\n"


def test_steps_of_a_rate_are_refused_where_nobody_knows_how_long_the_window_is(told, tmp_path):
    code, _, err = told("insert_docsize", "--rate", "100,200", "--output", tmp_path)
    assert code == 2
    assert "insert_docsize ends when its work is done" in err
    assert "--duration" in err


def test_an_experiment_that_fails_keeps_no_other_from_being_measured(replica_set, tiny, tmp_path):
    broken = tmp_path / "broken.toml"
    pipeline = 'pipeline = [{ "$match" = { _id = 1 } }]\nlimit = 7\ngroupSize = 1\ninitialDocsToInsert = 10\n'
    broken.write_text(
        TINY.partition("[[variants]]")[0]
        .replace('"tiny"', '"broken"')
        .replace('"insert"', '"aggregate"')
        .replace('scaled = ["totalDocsToInsert"]\n', "")
        .replace("mongo_tables_tiny", "mongo_tables_broken")
        + f"docSizeKB = 1.0\ntestTimeSecs = 1\n{pipeline}\n[[variants]]\norder = 1\n",
        encoding="utf-8",
    )
    arguments = (
        broken,
        tiny,
        "--target",
        replica_set.uri,
        "--output",
        tmp_path,
        "--repeats",
        1,
        "--seconds",
        0.1,
    )
    code, out, err = finish(start(*arguments))
    assert code == 2
    assert "tiny: 2 rows" in out
    assert "broken: " in err
    assert "1 of 2 experiments failed: broken" in err
    assert (tmp_path / ".runs").exists()
