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
from mongo_tables.results import file_source

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


def said(result: pytest.RunResult) -> str:
    return result.stdout.str()


def test_the_database_has_the_documents_and_aggregates_as_a_server_does(shop: pytest.Pytester) -> None:
    code = """
        def test_both_ways(mongo_database):
            assert mongo_database.orders.count_documents({"country": "fr"}) == 2
            assert mongo_database.orders.find_one({"_id": 2})["total"] == 7.5
            rows = list(mongo_database["orders"].aggregate([{"$set": {"r": {"$round": ["$total"]}}}, {"$sort": {"_id": 1}}]))
            assert [str(row["r"]) for row in rows] == ["12.0", "8.0", "1"]
            pipeline = [{"$match": {"$expr": {"$eq": ["$country", "$$wanted"]}}}, {"$count": "n"}]
            assert list(mongo_database.orders.aggregate(pipeline, let={"wanted": "fr"})) == [{"n": 2}]
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


def test_each_test_has_the_files_as_they_are_then(shop: pytest.Pytester) -> None:
    code = """
        import shutil
        from pathlib import Path

        FOLDER = Path(__file__).parent / "fixtures"

        def test_before(mongo_database):
            assert mongo_database.list_collection_names() == ["orders"]
            assert mongo_database.orders.count_documents({}) == 3
            (FOLDER / "orders/orders.jsonl").write_text('{"_id": 1, "total": 5}')
            (FOLDER / "guests").mkdir()
            (FOLDER / "guests/guests.jsonl").write_text('{"_id": 1}')
            assert mongo_database.orders.count_documents({}) == 3

        def test_after(mongo_database):
            assert list(mongo_database.orders.aggregate([])) == [{"_id": 1, "total": 5}]
            assert list(mongo_database.orders.find()) == [{"_id": 1, "total": 5}]
            assert mongo_database.list_collection_names() == ["guests", "orders"]
            shutil.rmtree(FOLDER)

        def test_without(mongo_database):
            pass
    """
    result = run(shop, code)
    result.assert_outcomes(passed=2, errors=1)
    assert "there is no fixture folder" in said(result)


def test_files_that_no_test_changes_are_decoded_once(
    shop: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    decode, decoded = file_source.decode, []
    monkeypatch.setattr(file_source, "decode", lambda one: decoded.append(one.name) or decode(one))
    code = """
        import pytest

        @pytest.mark.parametrize("_", range(3))
        def test_count(mongo_database, _):
            assert list(mongo_database.orders.aggregate([{"$count": "n"}])) == [{"n": 3}]
    """
    run(shop, code).assert_outcomes(passed=3)
    assert decoded == ["orders"]


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
        def test_marked(mongo_database): ...

        @pytest.mark.mongo_fixtures
        def test_empty(mongo_database): ...
    """
    shop.makepyprojecttoml('[tool.pytest.ini_options]\naddopts = "-q"\nmongo_fixtures = "gone"\n')
    result = run(shop, code)
    result.assert_outcomes(errors=3)
    result.stdout.fnmatch_lines([
        "pyproject.toml:3:1: there is no fixture folder gone",
        "  hint: name a folder that has *",
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


def test_without_mongomock_the_extra_is_named(shop: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mongomock", None)
    monkeypatch.delitem(sys.modules, "mongo_tables.results.mock_database")
    result = run(shop, "def test_it(mongo_database): ...\n")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([
        "the fixture mongo_database needs mongomock, which is not installed",
        f"  hint: {install_command('testing').replace('[', '[[]')}",
    ])  # fmt: skip


def test_a_broken_fixture_file_is_told_with_line_and_column(shop: pytest.Pytester) -> None:
    (shop.path / "fixtures" / "orders" / "b.jsonl").write_text(
        '{"_id":7}\n{"_id":8,"a":}\n{"a":1}\n', "utf-8"
    )
    result = run(shop, "def test_it(mongo_database):\n    mongo_database.orders\n")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([
        "E*fixtures/orders/b.jsonl:2:14: a value is missing before `}`",
        "E*fixtures/orders/b.jsonl:3:1: a document without _id",
    ], consecutive=True)  # fmt: skip
    other = run(shop, "def test_it(mongo_database):\n    assert mongo_database.others.find_one() is None\n")
    other.assert_outcomes(passed=1)


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
