"""Plain data: what its fields may be given, that nobody changes it, and when two are the same."""

from __future__ import annotations

import pickle
from functools import cached_property

import pytest

from mongo_tables.files.records import Record, Value


class Named(Record):
    name: str
    unit: str = ""


class Measured(Named):
    mean: float
    digits: int = 2

    @cached_property
    def text(self) -> str:
        return f"{self.mean:.{self.digits}f} {self.unit}"


class Place(Value):
    line: int
    column: int = 1


def test_fields_are_those_of_the_class_and_of_those_above_it_with_their_defaults() -> None:
    measured = Measured(name="load", mean=1.234)
    assert (measured.name, measured.unit, measured.mean, measured.digits) == ("load", "", 1.234, 2)
    assert Measured(name="load", unit="ms", mean=1.234).text == "1.23 ms"


@pytest.mark.parametrize(
    ("values", "named"),
    [((), {}), ((), {"column": 3}), ((1, 2, 3), {}), ((1,), {"line": 2}), ((1,), {"other": 2})],
)
def test_a_field_that_is_missing_unknown_or_given_twice_is_refused(values: tuple, named: dict) -> None:
    with pytest.raises(TypeError, match="Place"):
        Place(*values, **named)


def test_nothing_of_it_can_be_set_or_taken_away() -> None:
    place = Place(1)
    for change in (lambda: setattr(place, "line", 2), lambda: delattr(place, "line")):
        with pytest.raises(AttributeError, match="line of a Place cannot be"):
            change()
    assert place.line == 1


def test_a_changed_copy_has_the_other_fields_and_computes_anew() -> None:
    measured = Measured(name="load", mean=1.5)
    assert measured.text == "1.50 "
    assert measured._replace(digits=1).text == "1.5 "
    assert measured.text == "1.50 "


def test_values_are_equal_and_one_key_by_their_fields_and_records_by_which_they_are() -> None:
    assert Place(1, 2) == Place(line=1, column=2) != Place(1, 3)
    assert {Place(1), Place(1)} == {Place(1, 1)}
    assert Named(name="a") != Named(name="a")


def test_it_can_be_sent_to_another_process() -> None:
    assert pickle.loads(pickle.dumps(Place(3, 4))) == Place(3, 4)
