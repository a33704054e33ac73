"""The client of the Administration API: what it asks again, what it waits for, and what it says of a refusal."""

from __future__ import annotations

from datetime import timedelta

import pytest

from mongo_tables.files.process import ATLAS_CLIENT
from mongo_tables.findings.usage import CommandError
from mongo_tables.runner.atlas.api import BASE_VARIABLE, ApiError, open_api, read_credentials
from mongo_tables.runner.atlas.target import make_user
from tests.runner.atlas.fake import SECRET, Fault
from tests.runner.atlas.project import PROJECT, Refused
from tests.runner.atlas.test_lifecycle import RUN

CLUSTER = ("clusters", "one")


@pytest.fixture
def api(atlas):
    return open_api(PROJECT)


def tokens(atlas):
    return atlas.asked().count("POST /api/oauth/token")


def test_a_token_serves_until_it_ends_and_another_is_asked_for_before(atlas, api):
    for _ in range(3):
        api.find(*CLUSTER)
    assert tokens(atlas) == 1
    atlas.time.sleep(3500)
    api.find(*CLUSTER)
    assert tokens(atlas) == 2


@pytest.mark.parametrize(
    "end", [lambda fake: fake.forget_tokens(), lambda fake: setattr(fake, "token_seconds", 0)]
)
def test_a_token_that_ended_before_its_time_is_renewed_once_and_then_refused(atlas, api, end):
    api.find(*CLUSTER)
    end(atlas)
    if atlas.token_seconds:
        assert api.find(*CLUSTER) is None
        assert tokens(atlas) == 2
    else:
        atlas.forget_tokens()
        with pytest.raises(ApiError, match="refuses GET clusters/one with 401"):
            api.find(*CLUSTER)


@pytest.mark.parametrize(
    ("headers", "least"), [({"Retry-After": "40"}, 40), ({"RateLimit-Reset": "12"}, 12), ({}, 2)]
)
def test_limits_of_rate_are_waited_for_as_long_as_atlas_says(atlas, api, headers, least):
    api.find(*CLUSTER)
    atlas.faults.append(
        Fault("GET clusters/one", 429, {"errorCode": "RATE_LIMITED_TOKEN_BUCKET"}, headers, times=2)
    )
    before = atlas.time.waited
    api.find(*CLUSTER)
    assert 2 * least <= atlas.time.waited - before <= 3 * least


def test_limits_of_rate_that_do_not_end_end_the_run(atlas, api):
    atlas.faults.append(
        Fault("GET clusters/one", 429, {"errorCode": "RATE_LIMITED"}, {"Retry-After": "60"}, times=999)
    )
    before = atlas.time.now()
    with pytest.raises(ApiError, match="refuses GET clusters/one with 429, RATE_LIMITED"):
        api.find(*CLUSTER)
    assert atlas.time.now() - before < timedelta(minutes=16)


@pytest.mark.parametrize(
    "fault", [{"status": 500}, {"status": 503}, {"status": None}, {"status": 200, "content": b"<p>"}]
)
def test_what_has_no_answer_is_asked_again_and_not_for_ever(atlas, api, fault):
    atlas.faults.append(Fault("GET clusters/one", times=3, **fault))
    assert api.find(*CLUSTER) is None
    atlas.faults.append(Fault("GET clusters/one", times=999, **fault))
    with pytest.raises(ApiError, match="GET clusters/one"):
        api.find(*CLUSTER)
    assert atlas.faults[-1].times > 980


def test_a_redirection_is_not_followed_since_the_secret_is_for_one_host(atlas, api):
    atlas.faults.append(Fault("GET clusters/one", 302, {}, {"Location": f"{atlas.base}/elsewhere"}))
    with pytest.raises(ApiError, match="with 302"):
        api.find(*CLUSTER)
    assert not any("elsewhere" in asked for asked in atlas.asked())


def test_the_status_counts_where_the_rest_of_an_answer_cannot_be_read(atlas, api, monkeypatch):
    api.find(*CLUSTER)
    monkeypatch.setattr("mongo_tables.runner.atlas.api._MOST_BYTES", 100)
    atlas.faults.append(Fault("GET clusters/one", 403, content=b"<html>" + b" " * 1000))
    with pytest.raises(ApiError, match="refuses GET clusters/one with 403"):
        api.find(*CLUSTER)


def test_no_message_has_a_secret_that_an_answer_repeats(atlas, api):
    api.find(*CLUSTER)
    token = next(one.answer["access_token"] for one in atlas.seen if one.path.endswith("token"))
    detail = f"bad {SECRET} and\n{token}"
    atlas.faults.append(Fault("GET clusters/one", 400, {"errorCode": "BAD", "detail": detail}))
    with pytest.raises(ApiError) as refused:
        api.find(*CLUSTER)
    assert str(refused.value) == "Atlas refuses GET clusters/one with 400, BAD: bad *** and ***"
    assert SECRET not in repr(api.__dict__) + repr(read_credentials())


def test_no_part_of_a_secret_stays_where_a_long_message_is_cut(atlas, api):
    api.find(*CLUSTER)
    for length in range(300 - len(SECRET), 300):
        detail = f"{'x' * length}{SECRET}"
        atlas.faults.append(Fault("GET clusters/one", 400, {"errorCode": "BAD", "detail": detail}))
        with pytest.raises(ApiError) as refused:
            api.find(*CLUSTER)
        assert SECRET[:4] not in str(refused.value)


def test_no_message_has_the_password_of_a_user_that_an_answer_repeats(atlas, api):
    def repeated(body):
        raise Refused(400, "INVALID_ATTRIBUTE", f"Not so: {body['password']}.")

    atlas.project.make_user = repeated
    with pytest.raises(ApiError) as refused:
        make_user(api, RUN, f"mongo-tables-{RUN[:6]}-1")
    assert str(refused.value) == "Atlas refuses POST databaseUsers with 400, INVALID_ATTRIBUTE: Not so: ***."


def test_secrets_travel_encrypted_or_not_at_all(atlas, monkeypatch):
    monkeypatch.setenv(BASE_VARIABLE, "http://203.0.113.7")
    with pytest.raises(CommandError, match="requires https"):
        open_api(PROJECT)


@pytest.mark.parametrize("unset", [ATLAS_CLIENT, ATLAS_CLIENT[1:]])
def test_without_an_account_nothing_is_asked(atlas, monkeypatch, unset):
    for name in unset:
        monkeypatch.delenv(name)
    with pytest.raises(CommandError, match="no credentials for Atlas"):
        open_api(PROJECT)
    assert atlas.seen == []
