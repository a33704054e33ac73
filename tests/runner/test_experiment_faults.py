"""A mistake in an experiment file is named with its line, and with what to do."""

from __future__ import annotations

import pytest

from mongo_tables.runner import experiment as experiments
from mongo_tables.runner.experiment_faults import nearest, parse, places
from tests.runner.processes import TINY, finish, start

LINES = TINY.split("\n")


def line_of(text):
    return next(number for number, line in enumerate(TINY.split("\n"), 1) if line.startswith(text))


def found(text):
    return [(finding.line, finding.message, finding.hint) for finding in parse(text, "mine.toml")[1]]


def test_the_packaged_files_are_without_fault():
    for name in experiments.names():
        assert parse((experiments.FOLDER / f"{name}.toml").read_text(encoding="utf-8"), name)[1] == []


@pytest.mark.parametrize(
    ("old", "new", "message", "hint"),
    [
        ("title = ", "title ", "not TOML", ""),
        ('name = "tiny"', 'name = "Tiny!"', "name: 'Tiny!' does not match", "Name of the experiment"),
        ('workload = "insert"', 'workload = "inserts"', "'inserts' is not one of", "did you mean `insert`?"),
        ("collection =", "colection =", "colection has no effect here", "did you mean `collection`?"),
        ("numberOfThreads = 3", "numberOfThreads = 0", "0 is less than the minimum", "connections"),
        ("database = ", 'database = "prod"  #', "'prod' does not match", "mongo_tables_"),
        (
            "nSecondaryIndexes = 1",
            "nSecondaryIndexes = 1.5",
            "1.5 is not of type 'integer'",
            "secondary indexes",
        ),
    ],
)
def test_a_fault_stands_on_its_own_line(old, new, message, hint):
    (fault,) = found(TINY.replace(old, new))
    assert fault[0] == line_of(old)
    assert message in fault[1]
    assert hint in fault[2]


@pytest.mark.parametrize(
    ("contrasts", "message"),
    [
        ("[{ variant = 9, with = 2 }]", "unknown variant 9"),
        ("[{ variant = 2, with = 1 }]", "variants 2 and 1 are compared even without this contrast"),
        ("[{ variant = 2, with = 2 }]", "variants 2 and 2 are compared even without this contrast"),
        ("[]", "contrasts: [] should be non-empty"),
        ("[{ variant = 2 }]", "'with' is a required property"),
    ],
)
def test_a_contrast_is_between_two_variants_of_which_neither_is_compared_so_anyway(contrasts, message):
    ((line, told, _),) = found(TINY.replace("scaled = [", f"contrasts = {contrasts}\nscaled = [", 1))
    assert message in told
    assert line == line_of("scaled = [")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("docSizeKB = 1.0", "docSizeKB = nan", "nan cannot be used"),
        ("docSizeKB = 1.0", "order = 99999999999999999999\ndocSizeKB = 1.0", "more than 64 bits"),
        (
            "docSizeKB = 1.0",
            "query = { day = 2020-01-31 }\ndocSizeKB = 1.0",
            "2020-01-31 is not a date with a time",
        ),
        ('collection = "inserts"', 'collection = "mongo_tables_marker"', "marks databases of runs"),
        ("scaled = [", 'scaled = ["totalDocs", ', "there is no parameter totalDocs to scale"),
    ],
)
def test_a_value_that_a_schema_cannot_refuse_is_refused_on_its_line(old, new, message):
    ((line, told, _),) = found(TINY.replace(old, new, 1))
    assert message in told
    assert line == line_of(old)


def test_numbers_that_are_none_mean_something_to_the_database():
    assert found(TINY.replace("docSizeKB = 1.0", 'query = { a = { "$lt" = inf } }\ndocSizeKB = 1.0')) == []


def test_two_variants_that_say_the_same_would_have_one_row():
    first = TINY.split("[[variants]]")[1]
    text = f"{TINY}[[variants]]{first}"
    assert [fault[:2] for fault in found(text)] == [
        (line_of("[[variants]]"), "variants: two entries are equal")
    ]
    assert found(f"{text}order = 1\n") == []


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        (
            "update",
            '"UpdateOne"',
            '"FindOneAndUpdate"',
            "the workload update does not support FindOneAndUpdate",
        ),
        ("updateapi", '"UpdateOne"', '"ReplaceOne"', "the workload update_api does not support ReplaceOne"),
        (
            "delete",
            "initialDocsToInsert = 5_000_000",
            "initialDocsToInsert = 0",
            "works on documents that exist",
        ),
        (
            "schema_load",
            "testTimeSecs = 3000",
            "operationsPerSecond = 5\ntestTimeSecs = 3000",
            "the workload event_reports has its own rates",
        ),
    ],
)
def test_what_a_workload_cannot_do_is_told_before_it_begins(name, old, new, message):
    text = (experiments.FOLDER / f"{name}.toml").read_text(encoding="utf-8")
    line, told, _ = found(text.replace(old, new, 1))[0]
    assert message in told
    assert line == text.split(old)[0].count("\n") + 1


def test_a_value_that_every_variant_replaces_may_be_anything():
    text = (experiments.FOLDER / "delete.toml").read_text(encoding="utf-8")
    unused = text.replace("initialDocsToInsert = 5_000_000", "initialDocsToInsert = 0", 1)
    assert len(found(unused)) == 1
    assert found(unused.replace("[[variants]]", "[[variants]]\ninitialDocsToInsert = 10")) == []


def test_a_least_is_of_numbers():
    text = (experiments.FOLDER / "lookup.toml").read_text(encoding="utf-8")
    text = text.replace("[parameters]", "[least]\npipeline = 5\n\n[parameters]", 1)
    (fault,) = found(text)
    assert fault[:2] == (
        text.split("\n").index("pipeline = 5") + 1,
        "pipeline is not a number that --scale makes smaller",
    )


def test_all_faults_are_named_at_once():
    text = TINY.replace("repeats = 3", "repeats = 0").replace("collection =", "colection =")
    assert [line for line, _, _ in found(text)] == [line_of("repeats"), line_of("collection")]


def test_a_parameter_that_the_workload_needs_is_missed_at_the_variant():
    first, second = [number for number, line in enumerate(LINES, 1) if line == "[[variants]]"]
    (fault,) = found(TINY.replace("totalDocsToInsert = 100\n", ""))
    assert fault[:2] == (second, "the workload insert needs totalDocsToInsert")
    assert [line for line, _, _ in found(TINY.replace("writeBatchSize = 7\n", ""))] == [first - 1, second - 1]


def test_published_rows_are_as_many_as_variants():
    (fault,) = found(TINY + '\n[published]\nsource = "here"\nrows = [{ durationS = 3 }]\n')
    assert "1 published rows for 2 variants" in fault[1]


def test_published_rows_that_name_their_variant_may_be_any_number():
    rows = "".join(f"[[published.rows]]\nvariant = {one}\nqps = 1\n" for one in (1, 1, 0, 3))
    text = f'{TINY}\n[published]\nsource = "here"\n'
    (fault,) = found(text + rows)
    assert fault[:2] == (
        (text + rows).split("\n").index("variant = 3") + 1,
        "unknown variant 3",
    )
    assert found(text + rows.replace("= 3", "= 2")) == []


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("RANDINT(1,100", "is not a random number"),
        ("RANDINT(1, 100)", "is not a random number"),
        ("randint(1,100)", "is not a random number"),
        ("RANDINT(100,1)", "is an empty range"),
        ("RANDINT(0,9)", "begins below 1"),
        ("RANDINT(1,9,3)", "has a count, which only a list has"),
        ("RANDINTLIST(1,9)", "needs a count"),
        ("RANDINTLIST(1,9,10)", "cannot give 10 different numbers, because its range has only 9"),
    ],
)
def test_a_random_number_that_is_none_is_named_with_its_line(template, message):
    query = (experiments.FOLDER / "query_fetch.toml").read_text(encoding="utf-8")
    (fault,) = found(query.replace("RANDINT(1,100)", template, 1))
    assert fault[0] == query.split("RANDINT(1,100)")[0].count("\n") + 1
    assert fault[1].startswith(f"{template!r} ")
    assert message in fault[1]
    pipeline = (experiments.FOLDER / "lookup.toml").read_text(encoding="utf-8")
    assert [
        one[1].startswith(f"{template!r} ") for one in found(pipeline.replace("RANDINT(1,25)", template, 1))
    ]


def test_places_are_found_past_texts_of_many_lines_and_nested_tables():
    text = 'a = """\nb = 1\n"""\nb = 2\n[[t]]\n[[t]]\nc = { d = 1 }\n[[t.u]]\n  e = 5\n["x y".z]\nf = 1\n'
    where = places(text)
    assert where[("b",)] == (4, 1)
    assert where[("t", 1, "c")] == (7, 1)
    assert where[("t", 1, "u", 0, "e")] == (9, 3)
    assert where[("x y", "z", "f")] == (11, 1)
    assert nearest(where, ("t", 1, "c", "d")) == (7, 1)
    assert nearest(where, ("nowhere", 3)) == (1, 1)


def test_the_command_shows_the_line_and_makes_nothing(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(TINY.replace("numberOfThreads = 3", 'numberOfThreads = "three"'), encoding="utf-8")
    code, out, err = finish(start(path, "--output", tmp_path / "out"))
    assert (code, out) == (2, "")
    assert err.startswith(f"mine.toml:{line_of('numberOfThreads')}:1: error MT150")
    assert 'numberOfThreads = "three"' in err
    assert not (tmp_path / "out").exists()


def test_the_least_of_what_scale_does_not_touch_is_a_mistake():
    text = TINY.replace("[parameters]", "[least]\nnumberOfThreads = 2\n\n[parameters]", 1)
    line = text.split("\n").index("numberOfThreads = 2") + 1
    assert [fault[:2] for fault in found(text)] == [
        (line, "numberOfThreads is not a number that --scale makes smaller")
    ]


def test_a_working_set_of_a_workload_without_records_is_a_mistake():
    text = TINY.replace("[parameters]", "[parameters]\nworkingSetRatio = 0.9", 1)
    assert [message for _, message, _ in found(text)] == [
        "the workload insert has no records whose number could follow from the size of the cache"
    ] * 2


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("inserts", "'inserts' is not one of"),
        ("query", "the workload query needs"),
        ("update", "the workload update has its own order or rate"),
        ("failover", "the workload failover has its own order or rate"),
    ],
)
def test_a_variant_may_name_a_workload_whose_windows_mix_with_the_others(name, message):
    text = TINY.replace("docSizeKB = 4.0", f'docSizeKB = 4.0\nworkload = "{name}"')
    faults = found(text)
    line = text.split("\n").index(f'workload = "{name}"') + 1
    assert any(message in told for _, told, _ in faults)
    assert {where for where, _, _ in faults} <= {line, line - 3, line - 2, line - 1}
    flat = "nFields = 3\ntextBytes = 10\ntestTimeSecs = 1"
    assert found(TINY.replace("docSizeKB = 4.0", f'docSizeKB = 4.0\nworkload = "flat_insert"\n{flat}')) == []
