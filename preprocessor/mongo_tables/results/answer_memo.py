"""Remembers rows by what they are made of: a query, and the content of all that it reads."""

from __future__ import annotations

from typing import Final

from mongo_tables.results.model import Query, ResultsError, Rows

_FICKLE: Final = ("$$NOW", "$$CLUSTER_TIME", "$rand", "$sample")
"""What gives other rows at another time or at every call."""

MOST_ROWS: Final = 500_000
"""Rows that are remembered, all answers together."""

Key = tuple[str, tuple[str, ...]]


def is_lasting(query: Query) -> bool:
    """Whether a query gives the same rows at any time."""
    asked = repr((query.pipeline, query.let))
    return not any(word in asked for word in _FICKLE)


class AnswerMemo:
    """The latest answers, by their queries and the digests of the collections that these read."""

    def __init__(self, most_rows: int = MOST_ROWS) -> None:
        self._most_rows = most_rows
        self._rows = 0
        self._answers: dict[Key, Rows | ResultsError] = {}

    def get(self, query: Query, digests: tuple[str, ...]) -> Rows | ResultsError | None:
        """The answer to a query about this content; None where it is not known."""
        key = (query.key, digests)
        answer = self._answers.pop(key, None)
        if answer is not None:
            self._answers[key] = answer  # the latest
        return answer

    def put(self, query: Query, digests: tuple[str, ...], answer: Rows | ResultsError) -> None:
        """Remember an answer, unless another time may have another one; drop those that were used longest ago."""
        if not is_lasting(query):
            return
        key = (query.key, digests)
        self._rows += _weigh(answer) - (_weigh(self._answers.pop(key)) if key in self._answers else 0)
        self._answers[key] = answer
        while self._rows > self._most_rows:
            oldest = next(iter(self._answers))
            self._rows -= _weigh(self._answers.pop(oldest))


def _weigh(answer: Rows | ResultsError) -> int:
    return 1 + len(answer) if isinstance(answer, list) else 1
