from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mongo_tables.results.guards import Limits
from mongo_tables.results.model import ResultsError
from mongo_tables.results.opening import open_source
from mongo_tables.results.source_text import redact, scrub
from mongo_tables.site.site_config import find_watched_path, results_source

# Longer than any word of ours, and recognisable: two halves around whatever else a password may hold.
PASSWORDS = st.text(st.characters(min_codepoint=33, max_codepoint=255), max_size=6).map(
    lambda x: f"Xq7Zk{x}Wv9Yj"
)


@pytest.mark.parametrize(
    ("uri", "shown"),
    [
        ("mongodb://localhost", "mongodb://localhost"),
        ("mongodb://me:pw@h1:27017,h2/results?ssl=true", "mongodb://h1:27017,h2/results"),
        ("mongodb+srv://me:pw@cluster.example.net/", "mongodb+srv://cluster.example.net"),
        ("MongoDB://me@[::1]:27017/x", "mongodb://[::1]:27017/x"),
        ("mongodb://me:p@ss@host/x", "mongodb://***"),
        ("mongodb://me:p/ss@host/x", "mongodb://***"),
        ("mongodb://me:p?ss@host/x", "mongodb://***"),
        ("mongodb://me:password", "mongodb://***"),
        ("mongodb://h/?tlsCertificateKeyFilePassword=a@b", "mongodb://***"),
    ],
)
def test_a_uri_is_shown_without_user_password_and_options(uri: str, shown: str):
    assert redact(uri) == shown


@given(PASSWORDS, st.booleans(), st.sampled_from(["h", "h:1/db", "h:x/db", "a,b/db?replicaSet=r", ""]))
@example("Xq7Zk?@Wv9Yj", False, "h")
@settings(max_examples=200, deadline=None)
def test_no_part_of_a_password_is_in_the_shown_uri(password: str, quoted: bool, rest: str):
    uri = f"mongodb://someuser99:{quote(password, safe='') if quoted else password}@{rest}"
    shown = redact(uri)
    assert "Xq7Zk" not in shown
    assert "Wv9Yj" not in shown
    assert "someuser99" not in shown


@given(PASSWORDS)
@settings(max_examples=200, deadline=None)
def test_foreign_text_loses_the_password_in_every_form(password: str):
    quoted = quote(password, safe="")
    uri = f"mongodb://someuser99:{quoted}@host/db"
    text = scrub(f"cannot use {uri}: user someuser99, password {password} ({quoted})", uri)
    assert password not in text
    assert quoted not in text
    assert "someuser99" not in text


@given(
    PASSWORDS,
    st.booleans(),
    st.sampled_from(["", "localhost:99999", "localhost:1/x?tls=banana&ssl=no", "l/%$"]),
)
@settings(max_examples=60, deadline=None)
def test_an_unusable_uri_is_reported_without_its_password(password: str, quoted: bool, rest: str):
    uri = f"mongodb://someuser99:{quote(password, safe='') if quoted else password}@{rest}"
    with pytest.raises(ResultsError) as caught:
        open_source(uri, Limits(connect_ms=20)).reach()
    said = f"{caught.value} {caught.value.hint} {caught.value!r}"
    assert "Xq7Zk" not in said
    assert "Wv9Yj" not in said
    assert "someuser99" not in said
    assert caught.value.environment
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    "slipped",
    [
        "mongodb:/someuser99:Xq7Zk@x/y",
        "mongodb//someuser99:Xq7Zk@x/y",
        "MongoDB+srv:someuser99:Xq7Zk@x",
        "//someuser99:Xq7Zk@127.0.0.1/db",
        "someuser99:Xq7Zk@127.0.0.1:27017/db",
        "someuser99:Xq/7Zk@127.0.0.1:27017/db",
        "monogdb://someuser99:Xq7Zk@x/y",
        "mongodb:/Xq7Zk",
    ],
)
def test_a_slipped_uri_is_no_folder_and_shows_nothing(slipped: str, tmp_path: Path):
    assert results_source(slipped, tmp_path) == slipped
    assert find_watched_path(slipped) is None
    with pytest.raises(ResultsError) as caught:
        open_source(slipped)
    assert ("monogdb://***" if slipped.startswith("mono") else "mongodb://***") in caught.value.message
    assert "Xq" not in f"{caught.value} {caught.value.hint}"
    assert caught.value.environment


def test_a_folder_may_have_an_at_sign_and_begin_like_a_uri(tmp_path: Path):
    for name in ("build@2/fixtures", "mongodb-results", "mongodb"):
        (tmp_path / name).mkdir(parents=True)
        assert results_source(name, tmp_path) == str(tmp_path / name)
        assert open_source(str(tmp_path / name)).name == str(tmp_path / name)
    with pytest.raises(ResultsError, match="there is no fixture folder"):
        open_source(str(tmp_path / "build@2" / "nothing")).reach()
