"""What the readers of JSON text share: paths to values, the problems of a text, the depth that MongoDB allows."""

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    pass


Path = tuple[str | int, ...]
"""The keys and list indexes that lead from the root, ``()``, to a value."""


#: MongoDB takes "no more than 100 levels of nesting for BSON documents".
#: https://www.mongodb.com/docs/manual/reference/limits/#mongodb-limit-Nested-Depth-for-BSON-Documents
MAX_DEPTH = 100


Kind = Literal["syntax", "duplicate", "repeated"]


class Problem(NamedTuple):
    """One fault of a text: ``offset`` in characters from 0, a message, a hint with the fix, and its kind.

    ``duplicate`` is a key given twice with different values, ``repeated`` one given twice with the same
    value (the only problem that is harmless: every parser reads such a text alike); all else is ``syntax``.
    """

    offset: int
    message: str
    hint: str
    kind: Kind = "syntax"


class Reading:
    """What the careful reader found.

    ``guesses`` are the paths of values that stand for something unreadable (a ``NaN``, a missing value):
    nothing may be concluded from them. ``readable`` is false when reading stopped before the end.
    """

    def __init__(self) -> None:
        self.value: Any = None
        self.positions: dict[Path, int] = {}
        self.key_positions: dict[Path, int] = {}
        self.problems: list[Problem] = []
        self.guesses: set[Path] = set()
        self.readable = True
