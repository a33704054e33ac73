"""Nothing hangs, nothing takes more than 1.5 GB, nothing ends in a traceback, whatever comes in by whichever door."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path

import pymongo
import pytest
from _pytest.mark import ParameterSet

from tests.hostile.attacks import CODES, CORPUS, FILES, FORMULAS, LIMITED, SHAPES, TEXTS, WORK, WRITES
from tests.hostile.corpus import TAGS
from tests.hostile.doors import BUILD, DOORS, Done, enter
from tests.hostile.projects import SECRET, Project, comment, listed
from tests.hosts.builds import read
from tests.mongod import Mongod
from tests.results.proxies import spoiling

ALL = {**TEXTS, **FILES, **SHAPES, **CODES, **WORK}
READS_PAGES = ("check", "render", "explain", "diff", BUILD)


def attacked(project: Project, door: str, folder: Path, **variables: str) -> tuple[Done, Path]:
    place = project.make(folder)
    outside = listed(folder / "outside")
    beside = {path.name for path in folder.iterdir()}
    done = enter(DOORS[door], place, **variables)
    done.check()
    assert SECRET not in done.out + done.err
    assert listed(folder / "outside") == outside
    assert {path.name for path in folder.iterdir()} <= {*beside, "cache"}
    return done, place


def doors_in_turn() -> Iterator[ParameterSet]:
    """Each attack with each of its doors: one door after the other at each run, the others at a thorough one."""
    for number, (name, attack) in enumerate(ALL.items()):
        doors = [*(attack.doors or DOORS)]
        for turn, door in enumerate(doors):
            now = turn in (number % len(doors), (number + 2) % len(doors))
            yield pytest.param(name, door, marks=() if now else pytest.mark.thorough)


@pytest.mark.parametrize(("name", "door"), [*doors_in_turn()])
def test_an_attack_ends_in_time_in_words_and_within_its_folder(name: str, door: str, tmp_path: Path) -> None:
    done, place = attacked(ALL[name], door, tmp_path)
    if ALL[name].refused and door in READS_PAGES and door != "diff":
        assert done.status != 0, done.out
    for file in place.rglob("*"):
        assert file.is_symlink() or file.resolve().is_relative_to(place)
        if file.is_file() and not file.is_symlink():
            assert SECRET not in file.read_bytes().decode(errors="replace")


@pytest.mark.parametrize("name", LIMITED)
def test_what_grows_without_end_is_ended_by_a_limit_that_is_named(name: str, tmp_path: Path) -> None:
    done, _ = attacked(LIMITED[name], "check", tmp_path)
    assert done.status == 1
    assert re.search(r"MT301 .*(more than|too much) ?", done.out), done.out


def test_nothing_in_a_built_page_runs_or_fetches(tmp_path: Path) -> None:
    done, place = attacked(TEXTS["markup"], BUILD, tmp_path)
    assert done.status == 0, done.err
    page = read((place / "site" / "index.html").read_text(encoding="utf-8"))
    assert page.tags <= {*TAGS, "script", "link"}, page.tags - TAGS
    assert not [
        name for name in page.attributes if name.startswith("on") or name in ("src", "action", "srcdoc")
    ]
    assert [row[0].count("<") for row in page.tables[0][1:]] == [text.count("<") for text in CORPUS]


def test_no_cell_of_a_download_is_a_formula(tmp_path: Path) -> None:
    done, place = attacked(TEXTS["formulas"], BUILD, tmp_path)
    assert done.status == 0, done.err
    (file,) = place.rglob("rows/*.csv")
    cells = [row[0] for row in csv.reader(io.StringIO(file.read_text(encoding="utf-8-sig"), newline=""))]
    assert cells == [f"'{FORMULAS[8]}", *(f"'{text}" for text in FORMULAS)]


URIS = [
    f"{scheme}me:{password}@{rest}"
    for scheme, password, rest in (
        ("mongodb://", "Xq7Zk", "127.0.0.1:1/db"), ("mongodb://", "Xq7Zk", "127.0.0.1:1"),
        ("MongoDB://", "Xq7Zk", "127.0.0.1:1/db"), (" mongodb://", "Xq7Zk", "127.0.0.1:1/db "),
        ("mongodb://", "Xq7Zk", "127.0.0.1:99999/db"), ("mongodb://", "Xq7Zk", "127.0.0.1:x/db"),
        ("mongodb://", "Xq7Zk", ""), ("mongodb://", "Xq7Zk", "/db"), ("mongodb://", "Xq7Zk", "127.0.0.1:1,/db"),
        ("mongodb://", "Xq7Zk", "[::1]:1/db"), ("mongodb://", "Xq7Zk", "[::1/db"),
        ("mongodb://", "Xq@7Zk/Xq7Zk", "127.0.0.1:1/db"), ("mongodb://", "Xq7Zk?a=b", "127.0.0.1:1/db"),
        ("mongodb://", "Xq7Zk#x", "127.0.0.1:1/db"), ("mongodb://", "%58q7Zk%zz", "127.0.0.1:1/db"),
        ("mongodb://", "Xq7Zk:Xq7Zk", "127.0.0.1:1/db"), ("mongodb://", "Xq7Zk%00", "127.0.0.1:1/db"),
        ("mongodb://", "Xq7Zk", "127.0.0.1:1/db?tls=maybe"), ("mongodb://", "Xq7Zk", "127.0.0.1:1/db?w=%zz"),
        ("mongodb://", "Xq7Zk", "127.0.0.1:1/a.b$c"), ("mongodb://", "Xq7Zk", "127.0.0.1:1/db?authMechanism=X"),
        ("mongodb://", "Xq7Zk", "127.0.0.1:1/db?tls=true&tlsCertificateKeyFile=/no&tlsCertificateKeyFilePassword=Xq7Zk"),
        ("mongodb+srv://", "Xq7Zk", "127.0.0.1/db"), ("mongodb+srv://", "Xq7Zk", "a.b.invalid:1/db"),
        ("mongodb:/", "Xq7Zk", "127.0.0.1:1/db"), ("mongodb:", "Xq7Zk", "127.0.0.1:1/db"),
        ("mongo://", "Xq7Zk", "127.0.0.1:1/db"), ("http://", "Xq7Zk", "127.0.0.1:1/db"),
        ("", "Xq7Zk", "127.0.0.1:1/db"), ("mongodb://mongodb://", "Xq7Zk", "127.0.0.1:1/db"),
    )
]  # fmt: skip
ASKED = {
    "check": ("check", "docs", "--results", "URI"),
    "explain": ("explain", "docs/index.md", "--results", "URI"),
    "pull": ("pull", "URI", "c", "--to", "copied"),
    "diff": ("diff", "URI", "fixtures", "docs"),
    "init": ("init", "--table", "c", "--results", "URI"),
    "compare": ("compare", "URI", "fixtures"),
    "run": ("run", "insert_docsize", "--dry-run", "--target", "URI", "--output", "URI"),
    BUILD: (BUILD, "--quiet"),
}


@pytest.mark.parametrize("number", range(len(URIS)))
def test_a_password_is_never_said_in_whatever_shape_it_comes(number: int, tmp_path: Path) -> None:
    place = Project("sound").make(tmp_path)
    uri, door = URIS[number], [*ASKED][number % len(ASKED)]
    asked = [uri if word == "URI" else word for word in ASKED[door]]
    variables = {"MONGO_TABLES_RESULTS": uri} if door == BUILD else {}
    done = enter(asked, place, **variables)
    done.check()
    assert done.status != 0 or door == "run", done.out
    assert "7Zk" not in done.out + done.err, done.out + done.err
    written = [path for path in place.rglob("*") if "7Zk" in path.name]
    assert written == []


@pytest.fixture(scope="module")
def filled(mongod: Mongod):
    with pymongo.MongoClient(mongod.uri()) as client:
        client["attacked"]["c"].insert_many([{"_id": n, "a": "x", "n": n} for n in range(3)])
        client["rubbish"]["c"].insert_many([{"_id": n, "a": "x" * 100, "n": n} for n in range(500)])
        yield mongod
        client.drop_database("attacked")
        client.drop_database("rubbish")


def test_no_pipeline_writes_or_runs_code_on_a_server(filled: Mongod, tmp_path: Path) -> None:
    pages = {f"docs/{number}.md": comment(pipeline) for number, pipeline in enumerate(WRITES.values())}
    place = Project("writes", files=pages).make(tmp_path)
    uri = filled.uri("attacked")
    for page in pages:
        done = enter(["explain", page, "--results", uri], place)
        done.check()
        assert done.status != 0, done.out
        assert not re.search(r"\b42\b", done.out), done.out  # a port may have these digits
    with pymongo.MongoClient(filled.uri()) as client:
        assert "other" not in client.list_database_names()
        assert client["attacked"].list_collection_names() == ["c"]
        assert client["attacked"]["c"].count_documents({"a": "x"}) == 3


@pytest.mark.parametrize("fault", ["garbage", "zeros", "end"])
@pytest.mark.parametrize("door", ["check", "render", "explain", "pull", BUILD])
def test_a_server_that_talks_rubbish_is_said_to_in_one_line(
    door: str, fault: str, filled: Mongod, tmp_path: Path
) -> None:
    place = Project("sound").make(tmp_path)
    with spoiling(filled.port, 2500, fault) as proxy:
        uri = proxy.uri("rubbish")
        asked = ["pull", uri, "c"] if door == "pull" else DOORS[door]
        done = enter(asked, place, MONGO_TABLES_RESULTS=uri)
    done.check()
    assert done.status != 0
    told = [
        line
        for line in done.err.splitlines()
        if re.match(r"mongo-tables: |ERROR +-  mongo-tables: .* MT\d", line)
    ]
    assert len(told) == 1, done.err


EXPERIMENTS = {
    "levels": "a = " + "[" * 10_000 + "]" * 10_000,
    "huge numbers": 'name = "x"\ntitle = "x"\nworkload = "insert"\nscaled = []\n[parameters]\ntotalDocsToInsert = '
    + "9" * 200_000,
    "infinite": 'name = "x"\ntitle = "x"\nworkload = "insert"\n[parameters]\ntotalDocsToInsert = inf\ndocSizeKB = nan\n',
    "control characters": 'name = "\\u001b[31m"\ntitle = "\\u0007"\nworkload = "../insert"\n',
    "path": 'name = "../../outside/x"\ntitle = "x"\nworkload = "insert"\n[[variants]]\n',
    "system database": 'name = "x"\ntitle = "x"\nworkload = "insert"\n[parameters]\ndatabase = "admin"\n[[variants]]\n',
    "no text": "\0\0\0",
}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_hostile_experiment_is_refused_in_words(name: str, tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(EXPERIMENTS[name], encoding="utf-8")
    done = enter(["run", "x.toml", "--dry-run"], tmp_path)
    done.check()
    assert done.status == 2, done.out


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "a/../../b", ".", "\x1b[31m", "x" * 5000])
def test_a_hostile_name_on_the_command_line_leads_nowhere(name: str, tmp_path: Path) -> None:
    place = Project("sound").make(tmp_path)
    before = listed(tmp_path / "outside")
    names = {*tmp_path.iterdir()}
    for asked in (
        ["pull", "fixtures", "c", "--as", name, "--to", "copied"],
        ["init", "--table", name],
        ["diff", f"{name}:fixtures", "fixtures", "docs"],
    ):
        enter(asked, place).check()
    assert listed(tmp_path / "outside") == before
    assert {*tmp_path.iterdir()} == names
