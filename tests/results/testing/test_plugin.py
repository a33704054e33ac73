"""The pytest plugin, as those meet it who test the pipelines of an application."""

from __future__ import annotations

import json
import os
import pkgutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import mongo_tables
from mongo_tables.files.process import install_command

pytest_plugins = ["pytester"]

for found in pkgutil.walk_packages(mongo_tables.__path__, "mongo_tables."):
    # After a run within this process pytester drops what that loaded: an operator would be known to a registry that
    # is no more. So all of what evaluates and reads is there before.
    if found.name.split(".")[1] in ("aggregation", "results", "jsontext", "findings", "files"):
        import_module(found.name)

ORDERS = """{"_id":1,"country":"fr","total":12.5}
{"_id":2,"country":"de","total":7.5}
{"_id":3,"country":"fr","total":{"$numberDecimal":"1.10"}}
"""
BY_COUNTRY = (
    '[{"$group": {"_id": "$country", "n": {"$count": {}}, "sum": {"$sum": "$total"}}}, {"$sort": {"_id": 1}}]'
)
ASKING = f"""
def test_totals(mongo_aggregate):
    mongo_aggregate("orders", {BY_COUNTRY})
"""
UPDATE = "--update-mongo-golden"
PLUGIN = "mongo_tables.results.testing.plugin"


@pytest.fixture
def shop(pytester: pytest.Pytester) -> pytest.Pytester:
    """An application's tests with a fixture folder of one collection."""
    folder = pytester.mkdir("fixtures") / "orders"
    folder.mkdir()
    (folder / "orders.jsonl").write_text(ORDERS, "utf-8")
    return pytester


def run(shop: pytest.Pytester, code: str, *options: str) -> pytest.RunResult:
    shop.makepyfile(conftest=f"pytest_plugins = [{PLUGIN!r}]\n", test_orders=code)
    # Within this process the plugin is imported already.
    known = ("-W", "ignore:Module already imported")
    return shop.runpytest_inprocess("-p", "no:cacheprovider", "-p", "no:randomly", *known, *options)


def golden(shop: pytest.Pytester, name: str = "test_totals") -> Path:
    return shop.path / "golden" / "test_orders" / f"{name}.jsonl"


def said(result: pytest.RunResult) -> str:
    return result.stdout.str()


def test_the_database_has_the_documents_and_aggregates_as_a_server_does(shop: pytest.Pytester) -> None:
    code = """
        def test_both_ways(mongo_database):
            assert mongo_database.orders.count_documents({"country": "fr"}) == 2
            assert mongo_database.orders.find_one({"_id": 2})["total"] == 7.5
            rows = list(mongo_database["orders"].aggregate([{"$set": {"r": {"$round": ["$total"]}}}, {"$sort": {"_id": 1}}]))
            assert [str(row["r"]) for row in rows] == ["12.0", "8.0", "1"]
            assert mongo_database.client[mongo_database.name] is mongo_database
    """
    run(shop, code).assert_outcomes(passed=1)


def test_what_a_test_writes_its_pipelines_see_and_no_other_test(shop: pytest.Pytester) -> None:
    code = """
        import pytest

        COUNT = [{"$count": "n"}]

        @pytest.mark.parametrize("_", range(3))
        def test_a_write(mongo_database, _):
            mongo_database.orders.insert_one({"_id": 4})
            mongo_database.orders.update_one({"_id": 1}, {"$set": {"total": 0}})
            assert list(mongo_database.orders.aggregate(COUNT)) == [{"n": 4}]
            mongo_database.fresh.insert_one({"_id": 1})
            assert list(mongo_database.fresh.aggregate(COUNT)) == [{"n": 1}]

        def test_no_write(mongo_database):
            assert list(mongo_database.orders.aggregate([{"$match": {"total": 0}}])) == []
            assert mongo_database.list_collection_names() == ["orders"]
    """
    run(shop, code).assert_outcomes(passed=4)
    assert (shop.path / "fixtures" / "orders" / "orders.jsonl").read_text("utf-8") == ORDERS


def test_what_a_server_refuses_raises_as_pymongo_does_and_what_files_cannot_do_does_not(
    shop: pytest.Pytester,
) -> None:
    code = """
        import pytest
        from pymongo.errors import OperationFailure
        from mongo_tables.results import ResultsError

        def test_refused(mongo_database):
            with pytest.raises(OperationFailure, match="there is no stage") as raised:
                mongo_database.orders.aggregate([{"$grop": {}}])
            assert raised.value.code == 40324
            assert any("$group" in note for note in raised.value.__notes__)
            with pytest.raises(OperationFailure):
                mongo_database.orders.aggregate([{"$set": {"x": {"$divide": [1, 0]}}}])

        @pytest.mark.parametrize("stage", [{"$out": "x"}, {"$indexStats": {}}])
        def test_not_here(mongo_database, stage):
            with pytest.raises(ResultsError):
                mongo_database.orders.aggregate([stage])

        def test_a_collation(mongo_database):
            with pytest.raises(ResultsError, match="collation"):
                mongo_database.orders.aggregate([], collation={"locale": "fr"})
    """
    run(shop, code).assert_outcomes(passed=4)


def test_rows_are_written_once_with_the_option_and_compared_from_then_on(shop: pytest.Pytester) -> None:
    missing = run(shop, ASKING)
    missing.assert_outcomes(failed=1)
    missing.stdout.fnmatch_lines([
        "test_orders.py:2:5: there is no golden file golden/test_orders/test_totals.jsonl",
        f"  hint: write it with: pytest {UPDATE} test_orders.py",
    ])  # fmt: skip
    written = run(shop, ASKING, UPDATE)
    written.assert_outcomes(passed=1)
    assert "golden files are written, not compared" in said(written)
    assert golden(shop).read_text("utf-8") == (
        '{"_id":"de","n":1,"sum":7.5}\n{"_id":"fr","n":2,"sum":{"$numberDecimal":"13.60"}}\n'
    )
    before = golden(shop).stat()
    run(shop, ASKING).assert_outcomes(passed=1)
    run(shop, ASKING, UPDATE).assert_outcomes(passed=1)
    assert golden(shop).stat().st_mtime_ns == before.st_mtime_ns, "an equal file is left alone"


def test_a_difference_is_told_by_row_line_and_field(shop: pytest.Pytester) -> None:
    golden(shop).parent.mkdir(parents=True)
    golden(shop).write_text(
        '{"_id":"at","n":9}\n{"_id":"de","n":{"$numberLong":"1"},"sum":7.5}\n'
        '{"_id":"fr","n":2,"sum":{"$numberDecimal":"13.60"}}\n'
    )
    result = run(shop, ASKING)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([
        "test_orders.py:2:5: the rows are not those of golden/test_orders/test_totals.jsonl (- is there, + is now)",
        "row 1, line 1:",
        '  - _id: "at"',
        '  + _id: "de"',
        "  - n: 9",
        "  + n: 1",
        "  + sum: 7.5",
        "line 2 has a row that is not there now:",
        '  - {"_id":"de","n":{"$numberLong":"1"},"sum":7.5}',
        f"  hint: where they are right, write it with: pytest {UPDATE} test_orders.py",
    ], consecutive=True)  # fmt: skip


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"_id":"de","n":1.0,"sum":7.5}', ["  - n: 1.0", "  + n: 1"]),
        ('{"_id":"de","n":{"$numberLong":"1"},"sum":7.5}', ['  - n: {"$numberLong": "1"}', "  + n: 1"]),
        ('{"_id":"de","sum":7.5,"n":1}', ["  - fields in this order: _id, sum, n", "  + fields in this order: _id, n, sum"]),
        ('{"n":1,"_id":"de","sum":7.5}', ["  - fields in this order: n, _id, sum", "  + fields in this order: _id, n, sum"]),
        ('{"_id":"de","n":null,"sum":7.5}', ["  - n: null", "  + n: 1"]),
    ],
)  # fmt: skip
def test_types_and_the_order_of_fields_are_part_of_a_row(
    shop: pytest.Pytester, line: str, told: list[str]
) -> None:
    run(shop, ASKING, UPDATE)
    golden(shop).write_text(golden(shop).read_text("utf-8").replace('{"_id":"de","n":1,"sum":7.5}', line))
    result = run(shop, ASKING)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [line.replace("[", "[[]") for line in ["row 1, line 1:", *told]], consecutive=True
    )


def test_a_file_that_somebody_wrote_otherwise_has_the_same_rows(shop: pytest.Pytester) -> None:
    golden(shop).parent.mkdir(parents=True)
    golden(shop).write_text(
        '\ufeff\n { "_id" : "de", "n" : {"$numberInt": "1"}, "sum" : {"$numberDouble": "7.5"} }\r\n'
        '{"_id":"fr","n":2,"sum":{"$numberDecimal":"13.60"}}'
    )
    run(shop, ASKING).assert_outcomes(passed=1)


def test_rows_that_nothing_sorts_are_compared_in_any_order_and_sorted_ones_in_theirs(
    shop: pytest.Pytester,
) -> None:
    code = """
        import pytest

        @pytest.mark.parametrize("sort", [1, -1, 0])
        def test_sorted(mongo_aggregate, sort):
            group = [{"$group": {"_id": "$country"}}]
            mongo_aggregate("orders", group + [{"$sort": {"_id": sort}}] if sort else group)
    """
    run(shop, code, UPDATE).assert_outcomes(passed=3)
    for name in ("1", "-1", "0"):
        path = golden(shop, f"test_sorted[{name}]")
        path.write_text("".join(sorted(path.read_text().splitlines(keepends=True), reverse=True)))
    assert run(shop, code).parseoutcomes() == {"passed": 2, "failed": 1}
    assert golden(shop, "test_sorted[0]").read_text() == '{"_id":"fr"}\n{"_id":"de"}\n'
    run(shop, code, UPDATE)
    assert golden(shop, "test_sorted[0]").read_text() == '{"_id":"de"}\n{"_id":"fr"}\n'


def test_a_pipeline_without_rows_has_an_empty_file(shop: pytest.Pytester) -> None:
    code = """
        def test_totals(mongo_aggregate):
            assert mongo_aggregate("orders", [{"$match": {"country": "xx"}}]) == []
    """
    run(shop, code, UPDATE).assert_outcomes(passed=1)
    assert golden(shop).read_bytes() == b""
    run(shop, code).assert_outcomes(passed=1)
    golden(shop).write_text('{"_id":1}\n')
    result = run(shop, code)
    result.stdout.fnmatch_lines(["line 1 has a row that is not there now:", '  - {"_id":1}'])


def test_variables_and_rows_reach_the_test(shop: pytest.Pytester) -> None:
    code = """
        def test_totals(mongo_aggregate, mongo_database):
            mongo_database.orders.insert_one({"_id": 9, "country": "fr"})
            pipeline = [{"$match": {"$expr": {"$eq": ["$country", "$$wanted"]}}}, {"$count": "n"}]
            assert mongo_aggregate("orders", pipeline, let={"wanted": "fr"}) == [{"n": 3}]
    """
    run(shop, code, UPDATE).assert_outcomes(passed=1)
    run(shop, code).assert_outcomes(passed=1)


def test_each_test_has_a_file_of_its_own_whatever_its_parameters_are(shop: pytest.Pytester) -> None:
    code = """
        import pytest

        class TestOrders:
            @pytest.mark.parametrize("text", ["a/b", "a?b", "../..", "x" * 300, "x" * 299, "plain", "é"])
            def test_any(self, mongo_aggregate, text):
                mongo_aggregate("orders", [{"$limit": 1}, {"$project": {"_id": 0, "text": {"$literal": text}}}])
    """
    run(shop, code, UPDATE).assert_outcomes(passed=7)
    run(shop, code).assert_outcomes(passed=7)
    names = sorted(path.name for path in golden(shop).parent.iterdir())
    assert len(names) == 7
    assert "TestOrders.test_any[plain].jsonl" in names
    assert not list(shop.path.parent.glob("*.jsonl"))


def test_two_calls_of_a_test_need_names(shop: pytest.Pytester) -> None:
    code = """
        def test_totals(mongo_aggregate):
            mongo_aggregate("orders", [{"$count": "n"}], golden="first")
            mongo_aggregate("orders", [{"$count": "m"}])
            mongo_aggregate("orders", [{"$count": "n"}])
    """
    result = run(shop, code, UPDATE)
    result.stdout.fnmatch_lines([
        "test_orders.py:4:5: the golden file golden/test_orders/test_totals.jsonl is compared twice in one test",
        '  hint: give each call a name: golden="…"',
    ])  # fmt: skip
    assert golden(shop, "first").read_text() == '{"n":3}\n'


def test_two_tests_that_share_a_golden_file_cannot_write_different_rows(shop: pytest.Pytester) -> None:
    code = """
        import pytest

        @pytest.mark.parametrize("name", ["n", "n", "m"])
        def test_totals(mongo_aggregate, name):
            mongo_aggregate("orders", [{"$count": name}], golden="count")
    """
    result = run(shop, code, UPDATE)
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        ["test_orders.py:5:5: another test of this run has other rows for *count.jsonl"]
    )
    assert golden(shop, "count").read_text() == '{"n":3}\n', "the rows of the first stay"


@pytest.mark.parametrize("name", ["../x", "a/b", ".hidden", "a b"])
def test_a_name_that_is_none_of_a_file_is_refused(shop: pytest.Pytester, name: str) -> None:
    code = f"def test_totals(mongo_aggregate):\n    mongo_aggregate('orders', [], golden={name!r})\n"
    result = run(shop, code, UPDATE)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["test_orders.py:2:5: `golden` is not the name of a file: *"])


def test_settings_and_markers_name_the_folder(shop: pytest.Pytester) -> None:
    shop.makeini("[pytest]\nmongo_fixtures = data/shop\naddopts = --strict-markers\n")
    for place in ("data/shop/orders", "more/orders"):
        (shop.path / place).mkdir(parents=True)
        (shop.path / place / "a.jsonl").write_text(json.dumps({"_id": place}) + "\n", "utf-8")
    code = """
        import pytest

        def test_settings(mongo_database):
            assert mongo_database.orders.find_one() == {"_id": "data/shop/orders"}

        @pytest.mark.mongo_fixtures("more")
        class TestMarked:
            def test_class(self, mongo_database):
                assert mongo_database.orders.find_one() == {"_id": "more/orders"}

            @pytest.mark.mongo_fixtures("fixtures")
            def test_own(self, mongo_database):
                assert mongo_database.orders.count_documents({}) == 3
    """
    run(shop, code).assert_outcomes(passed=3)


def test_a_folder_that_is_not_there_is_told_with_who_names_it(shop: pytest.Pytester) -> None:
    code = """
        import pytest

        def test_settings(mongo_database): ...

        @pytest.mark.mongo_fixtures("nowhere")
        def test_marked(mongo_aggregate): ...

        @pytest.mark.mongo_fixtures
        def test_empty(mongo_aggregate): ...
    """
    shop.makepyprojecttoml('[tool.pytest.ini_options]\naddopts = "-q"\nmongo_fixtures = "gone"\n')
    result = run(shop, code)
    result.assert_outcomes(errors=3)
    result.stdout.fnmatch_lines([
        "pyproject.toml:3:1: there is no fixture folder gone",
        "  hint: name a folder with *",
        "test_orders.py:5:1: there is no fixture folder nowhere",
        "test_orders.py:8:1: the marker `mongo_fixtures` requires one folder",
    ])  # fmt: skip
    assert "Traceback" not in said(result)


def test_without_any_setting_the_folder_fixtures_is_meant(pytester: pytest.Pytester) -> None:
    result = run(pytester, "def test_it(mongo_database): ...\n")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["there is no fixture folder fixtures", "  hint: *mongo_fixtures*"])
    pytester.mkdir("fixtures")
    result = run(pytester, "def test_it(mongo_database): ...\n")
    result.stdout.fnmatch_lines(["*fixtures has no collections"])


def test_without_mongomock_the_extra_is_named_and_golden_files_go_on(
    shop: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mongomock", None)
    monkeypatch.delitem(sys.modules, "mongo_tables.results.mock_database")
    result = run(shop, f"{ASKING}\n\ndef test_it(mongo_database): ...\n", UPDATE)
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines([
        "files as a database are made by mongomock, which is not installed",
        f"  hint: {install_command('testing').replace('[', '[[]')}",
    ])  # fmt: skip


def test_a_broken_fixture_file_is_told_with_line_and_column(shop: pytest.Pytester) -> None:
    (shop.path / "fixtures" / "orders" / "b.jsonl").write_text(
        '{"_id":7}\n{"_id":8,"a":}\n{"a":1}\n', "utf-8"
    )
    result = run(shop, ASKING)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([
        "fixtures/orders/b.jsonl:2:14: a value is missing before `}`",
        "fixtures/orders/b.jsonl:3:1: a document without _id",
    ], consecutive=True)  # fmt: skip
    assert "golden_files.py" not in said(result), "no trace of how it was found"
    direct = run(shop, "def test_it(mongo_database):\n    mongo_database.orders\n")
    direct.stdout.fnmatch_lines(["E*fixtures/orders/b.jsonl:2:14: a value is missing before `}`"])
    other = run(shop, "def test_it(mongo_database):\n    assert mongo_database.others.find_one() is None\n")
    other.assert_outcomes(passed=1)


def test_a_pipeline_that_a_server_refuses_is_told_at_the_call(shop: pytest.Pytester) -> None:
    code = 'def test_it(mongo_aggregate):\n    rows = mongo_aggregate("orders", [{"$match": {}}, {"$grop": {}}])\n'
    result = run(shop, code, UPDATE)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["test_orders.py:2:12: $grop is not among * (at pipeline[[]1].$grop)", "  hint: *$group*"]
    )
    assert not golden(shop).parent.exists()


def test_a_pipeline_in_a_file_is_run_and_its_faults_are_told_where_they_stand(shop: pytest.Pytester) -> None:
    file = shop.path / "pipelines" / "totals.json"
    file.parent.mkdir()
    code = "def test_totals(mongo_aggregate):\n    mongo_aggregate('orders', 'pipelines/totals.json')\n"
    file.write_text(f'{{"description": "x", "pipeline": {BY_COUNTRY}}}', "utf-8")
    run(shop, code, UPDATE).assert_outcomes(passed=1)
    file.write_text(BY_COUNTRY, "utf-8")
    run(shop, code).assert_outcomes(passed=1)
    for text, told in (
        (
            '[\n  {"$match": {}},\n  {"$grop": {}}\n]',
            "totals.json:3:4: $grop is not among *",
        ),
        ('[\n  {"$set": {"a": {"$adda": 1}}}\n]', "totals.json:2:19: *$adda*"),
        ('{"pipeline": [\n  {"$sort": {"a": 2}}]}', "totals.json:2:*"),
        ('[{"$match": {},}]', "totals.json:1:15: there is a comma *"),
        ('[{"$match": {"a": {"$oid": "12"}}}]', "totals.json:1:20: *"),
        ('{"stages": []}', "totals.json:1:1: not a pipeline"),
        ("", "totals.json:1:1: *"),
    ):
        file.write_text(text, "utf-8")
        result = run(shop, code)
        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines([f"pipelines/{told}"])
    file.unlink()
    run(shop, code).stdout.fnmatch_lines(["pipelines/totals.json: cannot be read: No such file or directory"])


def test_a_broken_golden_file_is_told_with_line_and_column(shop: pytest.Pytester) -> None:
    golden(shop).parent.mkdir(parents=True)
    for content, told in (
        (b'{"_id":1}\n{"_id":2,"n":}\n', "2:14: a value is missing before `}`"),
        (b'{"_id":1}\n  5\n', "2:3: not a document"),
        (b'{"_id":{"$oid":"12"}}\n', "1:16: `$oid` needs *"),
        (b'{"_id":"\xff"}\n', "1:9: not UTF-8"),
        (b'{"_id":1}}\n', "1:10: *"),
    ):
        golden(shop).write_bytes(content)
        result = run(shop, ASKING)
        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines([f"golden/test_orders/test_totals.jsonl:{told}"])


def test_a_golden_file_that_cannot_be_written_is_named(shop: pytest.Pytester) -> None:
    golden(shop).mkdir(parents=True)
    result = run(shop, ASKING, UPDATE)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["test_orders.py:2:5: golden/test_orders/test_totals.jsonl cannot be written: *"]
    )


def test_many_different_rows_are_told_as_the_first_ones(shop: pytest.Pytester) -> None:
    lines = [json.dumps({"_id": number}) for number in range(40)]
    (shop.path / "fixtures" / "orders" / "orders.jsonl").write_text("\n".join(lines), "utf-8")
    code = (
        "def test_totals(mongo_aggregate):\n    mongo_aggregate('orders', [{'$set': {'long': 'x' * 500}}])\n"
    )
    run(shop, code, UPDATE)
    golden(shop).write_text(golden(shop).read_text().replace("xxx", "xxy"))
    result = run(shop, code)
    result.stdout.fnmatch_lines(["row 10, line 10:", "*", "*", "and 30 more rows"], consecutive=True)
    assert max(map(len, said(result).split("\n"))) < 200


def test_a_run_that_asks_for_nothing_of_it_loads_next_to_nothing(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(f"pytest_plugins = [{PLUGIN!r}]\n", "utf-8")
    (tmp_path / "test_other.py").write_text(
        "import sys\n\ndef test_it():\n    print(*sorted(sys.modules))\n", "utf-8"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", "."],
        cwd=tmp_path, env={**os.environ, "PYTEST_ADDOPTS": ""}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    loaded = done.stdout.split()
    ours = [name for name in loaded if name.partition(".")[0] == "mongo_tables"]
    assert PLUGIN in ours
    assert len(ours) <= 5, ours
    assert not {"bson", "pymongo", "mongomock", "jsonschema"} & set(loaded)


def test_a_project_that_does_not_ask_for_it_has_none_of_it(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("import sys\n\ndef test_it():\n    assert 'mongo_tables' not in sys.modules\n")
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=1)
