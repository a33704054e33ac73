"""Plain data with named fields whose classes cost next to nothing to declare."""

from __future__ import annotations

from typing import Any, Self, dataclass_transform

_FIELDS = "_fields"


@dataclass_transform(frozen_default=True, eq_default=False, kw_only_default=True)
class Record:
    """What a frozen dataclass of keywords is: its fields are the annotations of its class and of those above it.

    A value that the class gives a field is its default, one for all that are made: nobody is to change it. Of what is
    used by every check, a dataclass would generate code each time that the program starts, half a millisecond a class,
    and import ``inspect`` for it; a NamedTuple has neither classes above it nor a ``cached_property``.
    """

    def __init_subclass__(cls) -> None:
        above: dict[str, None] = getattr(cls, _FIELDS, {})
        setattr(cls, _FIELDS, {**above, **dict.fromkeys(cls.__annotations__)})

    def __init__(self, *values: Any, **named: Any) -> None:
        """Take the fields. Raises TypeError for one that is missing, unknown or repeated."""
        fields: dict[str, None] = getattr(self, _FIELDS)
        placed = dict(zip(fields, values, strict=False))
        wrong = [*values[len(fields) :], *(placed.keys() & named), *(named.keys() - fields)]
        missing = [
            one for one in fields.keys() - placed.keys() - named.keys() if not hasattr(type(self), one)
        ]
        if wrong or missing:
            raise TypeError(f"{type(self).__name__}: not to be given {wrong}, or missing {missing}")
        self.__dict__.update(placed, **named)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name} of a {type(self).__name__} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{name} of a {type(self).__name__} cannot be taken away")

    def _replace(self, **changes: Any) -> Self:
        """The same with other values in some fields, as of a NamedTuple."""
        return type(self)(**{name: getattr(self, name) for name in getattr(self, _FIELDS)} | changes)


@dataclass_transform(frozen_default=True)
class Value(Record):
    """A record that takes its fields in their order, too, and is equal to another with the same in all of them."""

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and _contents(self) == _contents(other)

    def __hash__(self) -> int:
        return hash(_contents(self))


def _contents(record: object) -> tuple[Any, ...]:
    return tuple(getattr(record, name) for name in getattr(record, _FIELDS))
