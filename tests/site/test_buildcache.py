"""What figures depend on is in the key under which they are kept."""

from __future__ import annotations

from datetime import date

import pytest

from mongo_tables.site import buildcache
from mongo_tables.site.buildcache import hash_given

URL = "page/"


@pytest.mark.parametrize("key", ['"max_age"', '"max\\u005fage"', '"\\u006dax_age"'])
def test_a_page_with_an_age_is_another_one_each_day_however_the_key_is_written(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    markdown = f"<!-- MONGO_TABLE: {{{key}: 30}} -->"
    today = hash_given(markdown, URL)
    assert hash_given(markdown, URL) == today
    monkeypatch.setattr(buildcache, "today", lambda: date(2030, 1, 1))
    assert hash_given(markdown, URL) != today


def test_a_page_without_an_age_is_the_same_every_day(monkeypatch: pytest.MonkeyPatch) -> None:
    today = hash_given("# Page", URL)
    monkeypatch.setattr(buildcache, "today", lambda: date(2030, 1, 1))
    assert hash_given("# Page", URL) == today
