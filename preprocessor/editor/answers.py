"""The answers of a results source to pages that are edited: each with the time it took, and none that nobody shows."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable

from preprocessor.pages.keptanswers import KeptAnswers
from preprocessor.results.model import Limits, Query


class TimedAnswers(KeptAnswers):
    """Answers, by ``Query.key``, with the milliseconds that each took to come."""

    def __init__(self, where: str, limits: Limits) -> None:
        super().__init__(where, limits, workers=1)
        self.milliseconds: dict[str, float] = {}

    def ask(self, queries: Iterable[Query]) -> None:
        """Run those queries that have no answer yet, one by one."""
        for query in queries:
            if query.key not in self._answers:
                began = time.perf_counter()
                super().ask([query])
                self.milliseconds[query.key] = (time.perf_counter() - began) * 1000

    def keep(self, keys: Collection[str]) -> None:
        """Drop all other answers: what is typed asks for something else with every letter."""
        for key in self._answers.keys() - keys:
            del self._answers[key]
            self.milliseconds.pop(key, None)
