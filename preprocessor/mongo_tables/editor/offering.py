"""What is known of a place of a comment, and the offers that its keys and its values have alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple

from mongo_tables.aggregation import catalogue
from mongo_tables.aggregation.catalogue import Kind as OperatorKind
from mongo_tables.editor.bodies import Cursor, value_at
from mongo_tables.editor.flows import fields_at, found_at, rows_shape, shape_before, tell_kinds
from mongo_tables.editor.knowledge import Knowledge
from mongo_tables.editor.observed import has_more_fields
from mongo_tables.editor.skeletons import argument_skeleton
from mongo_tables.editor.slots import Way
from mongo_tables.jsontext.model import Path
from mongo_tables.lint.shape.values import Shape

Sort = Literal["key", "value", "field", "operator", "stage", "variable", "table", "list", "collection"]
"""What kind of thing is offered."""


class Offer(NamedTuple):
    """A name for a key, or a value, before it is known how it is to be written there.

    ``follows`` is the skeleton of what stands behind the colon of a key; ``value`` is written where a value stands.
    """

    label: str
    sort: Sort
    remark: str = ""
    about: str = ""
    follows: str = ""
    value: Any = None
    skeleton: str = ""


class Asked(NamedTuple):
    """A place with all that is known of it.

    ``certain`` is the value as far as its keys are surely neighbours of the place: of one behind an open key, up to it.
    """

    cursor: Cursor
    way: Way
    value: Any
    certain: Any
    known: Knowledge
    start: Shape | None

    def before(self) -> Shape:
        """What documents look like before the stage."""
        if self.way.stretches:
            return shape_before(self.value, self.way.stretches, self.known, self.start)
        collection = value_at(self.value, ("collection",))
        return (
            self.known.shape(collection, ())
            if isinstance(collection, str)
            else rows_shape(self.value, self.known)
        )

    @property
    def above(self) -> Any:
        """The container of the key or the value."""
        return value_at(self.value, self.cursor.path[:-1])

    @property
    def beside(self) -> set[str]:
        """The keys that stand beside the one that is typed; none where a value is typed."""
        if self.cursor.role != "key":
            return set()
        above = value_at(self.certain, self.cursor.path[:-1])
        own = self.cursor.path[-1] if self.cursor.token else None
        return {key for key in above if key != own} if isinstance(above, dict) else set()


def list_operators(kind: OperatorKind, sort: Sort) -> Iterator[Offer]:
    """The operators of a kind that run, each with the skeleton of its argument and the way to the manual."""
    for name in catalogue.names(kind):
        operator = catalogue.get(kind, name)
        if not operator.refused:
            since = f"since MongoDB {operator.since}" if operator.since else ""
            about = f"[`{name}` in MongoDB's manual]({operator.manual})"
            yield Offer(name, sort, since, about, follows=argument_skeleton(operator))


def list_fields(shape: Shape, typed: str, prefix: str = "") -> Iterator[Offer]:
    """The fields whose paths begin as typed, up to the next dot, and one level below that."""
    parts = typed.split(".")[:-1]
    above = "".join(f"{part}." for part in parts)
    found = fields_at(shape, parts)
    for name, inner in found.items():
        if name == "_" or "." in name or name.startswith("$"):
            continue
        path = f"{above}{name}"
        yield Offer(path, "field", tell_kinds(inner), value=f"{prefix}{path}")
        if not parts and len(found) <= _FEW_BESIDE:
            for below, deeper in _few_below(inner):
                yield Offer(f"{path}.{below}", "field", tell_kinds(deeper), value=f"{prefix}{path}.{below}")


_FEW_BESIDE: Final = 40
_FEW_BELOW: Final = 12
"""Fields below others are offered with them where there are at most so many of either."""


def _few_below(shape: Shape) -> Iterator[tuple[str, Shape]]:
    """The fields of a sub-document, where they are few: of one with many they come behind its dot."""
    if not has_more_fields(shape, _FEW_BELOW):
        yield from ((name, inner) for name, inner in shape.fields.items() if not inner.absent)


def own_columns(asked: Asked) -> list[str]:
    """The columns that the comment shows, as far as they are written."""
    found: list[str] = []
    for key in ("columns", "x", "y", "series", "facets"):
        written = value_at(asked.value, (key,))
        found += [
            one for one in (written if isinstance(written, list) else [written]) if isinstance(one, str)
        ]
    return list(dict.fromkeys(filter(None, found)))


def quoted_columns(asked: Asked) -> Iterator[Offer]:
    """The columns of the table that a value or a statement quotes, and the other fields of its rows."""
    table = value_at(asked.value, ("table",))
    for name, told in asked.known.columns(table).items() if isinstance(table, str) else ():
        yield Offer(name, "field", told, value=name)


def fields_of_input(asked: Asked, operator: Path) -> Iterator[Offer]:
    """The fields of what an operator has as its ``input``; of the document where that is left out."""
    written = value_at(asked.value, (*operator, "input")) or "$$CURRENT"
    if not asked.way.stretches or not isinstance(written, str) or not written.startswith("$"):
        return
    name, _, rest = written.partition(".") if written.startswith("$$") else ("$_", "", written[1:])
    stretch = asked.way.stretches[-1]
    found = found_at(asked.value, stretch, (*operator, "input"), asked.before(), name)
    inside = f"{rest}." if rest else ""
    for one in list_fields(found, inside + asked.cursor.typed):
        if one.label.startswith(inside):
            within = one.label.removeprefix(inside)
            yield one._replace(label=within, value=within)


_GAPS: Final = {"string": '"${#}"', "array": "[${#}]", "object": "{${#}}", "boolean": "${#:true}"}


def follow(schema: Mapping[str, Any], number: int = 1) -> str:
    """What is written for a value of a schema, with a gap of that number: of several kinds a text, if it may be one."""
    kind = schema.get("type")
    kinds = (kind,) if isinstance(kind, str) else ("string",) if "string" in (kind or ()) else ()
    return next((_GAPS[one] for one in kinds if one in _GAPS), "${#}").replace("#", str(number))
