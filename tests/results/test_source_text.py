"""Which files a text names, and how it is written from elsewhere."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mongo_tables.results.opening import is_uri, move_source
from mongo_tables.results.source_text import SourcePart, split_parts


@pytest.mark.parametrize(
    ("where", "parts"),
    [
        ("fixtures", [("", "fixtures", "")]),
        ("bench.json", [("", "bench.json", "")]),
        ("bench/*.json", [("", "bench/*.json", "")]),
        ("runs=bench/*.json", [("runs", "bench/*.json", "")]),
        ("a.csv?version=text&day=date", [("", "a.csv", "version=text&day=date")]),
        ("run?.csv", [("", "run?.csv", "")]),
        ("run?.csv?n=text", [("", "run?.csv", "n=text")]),
        ("runs = bench/*.json, a.csv ,\n", [("runs", "bench/*.json", ""), ("", "a.csv", "")]),
        ("a[1,2].csv,b.csv", [("", "a[1,2].csv", ""), ("", "b.csv", "")]),
        ("k=v/a=b.csv", [("k", "v/a=b.csv", "")]),
        ("in/a=b.csv", [("", "in/a=b.csv", "")]),
    ],
)
def test_parts_stand_between_commas_a_name_before_and_types_behind_a_path(
    where: str, parts: list[tuple[str, str, str]]
) -> None:
    assert split_parts(where) == [SourcePart(*part) for part in parts]


@pytest.mark.parametrize("name", ["a,b.csv", "a=b.csv", "a[1].csv", "a*.csv", "a.csv?n=text"])
def test_the_path_of_something_is_that_path_whatever_signs_are_in_it(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("n\n1\n")
    assert split_parts(str(tmp_path / name)) == [SourcePart("", str(tmp_path / name), "")]
    assert move_source(name, tmp_path, str) == str(tmp_path / name)


@pytest.mark.parametrize("folder", ["site", "a,b=c [x]*?"])
def test_paths_of_a_site_are_those_below_its_folder_whatever_it_is_called(
    tmp_path: Path, folder: str
) -> None:
    from mongo_tables.results.opening import open_source

    place = tmp_path / folder
    (place / "bench").mkdir(parents=True)
    for name in ("bench/1.csv", "bench/2.csv", "start.csv"):
        (place / name).write_text("n\n1\n")
    moved = move_source("runs=bench/*.csv,start.csv?n=text", place, str)
    source = open_source(moved).local
    assert source is not None
    assert open_source(moved).collections() == ("runs", "start")
    assert source.documents("start") == [{"_id": 1, "n": "1"}]
    assert len(source.documents("runs")) == 2


@pytest.mark.parametrize(
    "where", ["mongodb://h/d", "https://h", "mongodb:/me:word@h", "a=mongodb://me:word@h/d", "me:word@h"]
)
def test_what_may_hold_a_password_is_no_path_wherever_it_stands(where: str) -> None:
    assert is_uri(where)
    assert is_uri(f"bench.json,{where}")
    assert move_source(where, Path("/site"), str) == where


def test_an_at_sign_is_fine_in_a_path_that_is_there(tmp_path: Path) -> None:
    (tmp_path / "@scope").mkdir()
    assert not is_uri("runs=@scope/*.json", tmp_path)
    assert is_uri("runs=@other/*.json", tmp_path)


# Blanks around a part do not belong to it, slashes and dots at the end of a path say nothing, nor do commas alone.
NAMES = st.text(st.sampled_from("ab,=?*[]./ "), min_size=1, max_size=8).filter(
    lambda text: text.strip(" ,") and re.search(r" /[/.]* *([,?]|$)", text) is None
)


@given(NAMES)
def test_a_text_names_the_same_as_seen_from_a_folder_and_moved_out_of_it(where: str) -> None:
    moved = split_parts(move_source(where, Path("/site"), str))
    seen_from_there = [str(Path("/site", one.pattern)) for one in split_parts(where, Path("/site"))]
    assert [os.path.normpath(one.pattern) for one in moved] == [
        os.path.normpath(path) for path in seen_from_there
    ]
