"""What a results source said is kept as long as it holds."""

from __future__ import annotations

import pytest

from preprocessor.pages import keptanswers
from preprocessor.pages.keptanswers import KeptAnswers


class _Server:
    """A source that is another server each time that it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def state(self) -> None:
        return None

    def version(self) -> str:
        self.asked += 1
        return f"{self.asked}.0"


def test_the_version_of_a_server_is_asked_once_between_two_refreshes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keptanswers, "open_source", lambda where, limits: _Server())
    kept = KeptAnswers("mongodb://localhost")
    assert [kept.version, kept.version] == ["1.0", "1.0"]
    kept.refresh()
    assert kept.version == "2.0"
