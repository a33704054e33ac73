"""The input of a rule: one table or chart, the flow of its pipeline, and what is known of its documents.

A rule is a function that registers itself with ``rule``; its ids are in ``findings.rules``.

The linter runs only the first ``$match`` of a pipeline, and learns the shape of the documents that pass it. If they are
benchmark results, the JSON Schema of results gives the meaning of their fields. Without a results source, a pipeline
that is written for benchmark results is assumed to read them, and nothing is known of other documents.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

from mongo_tables.aggregation import AggregationError, aggregate
from mongo_tables.aggregation.fields import Field, conditions_in, effect_of, split_path
from mongo_tables.aggregation.uses import Use
from mongo_tables.aggregation.values import is_flag, truthy, type_name
from mongo_tables.directives.schemas import load
from mongo_tables.directives.specs import PipelineSpec, TableSpec
from mongo_tables.files.memo import Memo
from mongo_tables.findings.finding import Finding
from mongo_tables.findings.rules import RULES, finding
from mongo_tables.lint.row_order import STORED, RowOrder, Sorting, is_kept, last_sorting, orders
from mongo_tables.lint.shape.document_shapes import (
    MANY,
    Meaning,
    learnt,
    meaning_of_results,
    read_schema_shape,
    select_telling,
)
from mongo_tables.lint.shape.expressions import COMPARING, Operand, Path, Visit
from mongo_tables.lint.shape.flow import Flow, Followed, StageFlow, StageText, flow_of
from mongo_tables.lint.shape.values import ARRAY, Shape, column_shape, lookup, member, unknown_documents
from mongo_tables.render.column import column_value, with_unit
from mongo_tables.results.formats.raw_values import VERSION_NAME
from mongo_tables.results.model import Query, ResultsError
from mongo_tables.results.provenance import expects_results, is_result

if TYPE_CHECKING:
    from mongo_tables.directives.specs import PipelineSpec
    from mongo_tables.results.file_source import FileSource

Document = dict[str, Any]
Stages = Sequence[Mapping[str, Any]]

_AT_ONCE: Final = 1_000
_MOST_BEGINNINGS: Final = 200
"""The maximum number of pipeline beginnings whose documents are cached. Large sites have thousands of beginnings."""
_MOST_TEXTS: Final = 2_000
"""The maximum number of stages whose texts are cached. Our own site has 1,100 stages."""


@dataclass(frozen=True, slots=True)
class Begun:
    """The shape of the documents that pipelines start from.

    ``is_learned``: the shape comes from real documents. ``followed``: see ``flow_of``.
    """

    shape: Shape
    is_learned: bool
    followed: Followed


@dataclass(frozen=True)
class Passing:
    """The documents that pass a first ``$match`` or, unless ``complete``, a representative selection of them.

    ``meaning``: the meaning of the fields according to their names.
    """

    meaning: Meaning
    documents: Sequence[Document] = ()
    complete: bool = True

    @cached_property
    def begun(self) -> Begun:
        """The input of pipelines that start from these documents."""
        meaning = meaning_of_results() if all(map(is_result, self.documents)) else self.meaning
        return Begun(learnt(self.documents, meaning), True, {})


class Documents:
    """The documents of a results source for the rules. Without a source, there are no documents.

    All comments share cached results: the documents that pass a first ``$match``, the shapes of documents after each
    stage, and facts about the text of a stage (``texts``).
    """

    def __init__(self, source: FileSource | None) -> None:
        self.source = source
        self.texts = Memo(_MOST_TEXTS)
        self._passing = Memo(_MOST_BEGINNINGS)
        self._meaning = Meaning("")

    def passing(self, collection: str, match: Stages, variables: Mapping[str, Any]) -> Passing:
        """Return the documents of a collection that pass ``match`` (one stage or none) with these variables."""
        if self.source is None:
            return Passing(self._meaning)
        key = Query(collection, tuple(match), variables).key if match or variables else collection
        known = self._passing.find(key)
        if isinstance(known, Passing):
            return known
        try:
            documents, all_pass = self.source.read_collection(collection).choose(match)
            match = () if all_pass else match
            if len(documents) > MANY:
                passing = Passing(self._meaning, *_select_passing(documents, match, variables))
            else:
                chosen = aggregate(documents, match, variables=variables) if match else documents
                passing = Passing(self._meaning, chosen)
        except (AggregationError, ResultsError):
            passing = Passing(self._meaning)  # The run of the pipeline reports the reason.
        self._passing.keep(key, passing)
        return passing

    def of(self, spec: PipelineSpec) -> Passing:
        """Return the documents that a comment's pipeline starts from."""
        return self.passing(spec.collection, leading_match(spec.pipeline), spec.let)

    def shape_of_all(self, collection: str) -> Shape:
        """Return the shape of all documents of a collection."""
        return self.passing(collection, (), {}).begun.shape

    def begun(self, spec: PipelineSpec) -> Begun:
        """Return what a comment's pipeline starts from."""
        passing = self.passing(spec.collection, leading_match(spec.pipeline), spec.let)
        if passing.documents:
            return passing.begun
        taken = self.source is None and expects_results(spec.pipeline)
        shape = load_result_shape() if taken else unknown_documents()
        return Begun(shape, False, {})


def leading_match(pipeline: Stages) -> Stages:
    """Return a list with the pipeline's first stage if this stage is a ``$match``, or else an empty list."""
    return pipeline[:1] if pipeline and "$match" in pipeline[0] else ()


@cache
def load_result_shape() -> Shape:
    """Return the shape of the runner's result documents, from their JSON Schema."""
    return read_schema_shape(load("result"))


def _select_passing(
    documents: Sequence[Document], match: Stages, variables: Mapping[str, Any]
) -> tuple[list[Document], bool]:
    """Return a selection of the documents that pass a ``$match``, and whether it has all of them.

    Only a few documents are in memory at a time.
    """
    count = 0

    def pass_in_batches() -> Iterator[Document]:
        nonlocal count
        for start in range(0, len(documents), _AT_ONCE):
            some = documents[start : start + _AT_ONCE]
            for document in aggregate(some, match, variables=variables) if match else some:
                count += 1
                yield document

    found = select_telling(pass_in_batches())
    return found, len(found) == count


Row = Mapping[str, Any]
Rows = Sequence[Row]
Find = Callable[..., Iterator[Finding]]
_Find = TypeVar("_Find", bound=Find)


@dataclass(frozen=True, slots=True)
class Registered:
    """A rule: the ids of its findings, its function, and its conditions (see ``rule``)."""

    ids: frozenset[str]
    find: Find
    needs: frozenset[str]
    reads: frozenset[str]


_MAKING: Final = ("$addFields", "$group", "$project", "$set")
FAILED: Final = "failed"
"""The field of a benchmark tool's document that describes its failure (``schemas/benchmark.schema.json``)."""
# An array may contain numbers and texts.
FRACTIONS: Final = frozenset({"double", "decimal", "array"})
_TEXTS: Final = frozenset({"string", "array"})
_TEXT_WITH_DOLLAR: Final = re.compile(r"""['"]\$[^$](?!\w*': )""")
"""A string that begins with a dollar sign and is not a key, in the ``repr`` of a condition."""

RuleInput = Literal["pipeline", "rows", "documents"]
"""The input of a rule: the comment alone, the comment and its rows, or the comment and the source's documents."""

REGISTERED: Final[dict[RuleInput, list[Registered]]] = {
    "pipeline": [],
    "rows": [],
    "documents": [],
}


def rule(
    *ids: str, of: RuleInput = "pipeline", needs: Collection[str] = (), reads: Collection[str] = ()
) -> Callable[[_Find], _Find]:
    """Register a rule, with the ids of its findings.

    Args:
        of: The arguments of the function.
        needs: Stages, operators or facts (``RuleContext.facts``). The rule is skipped for comments that have none of
            them.
        reads: Comparison operators; "" stands for reading a field. The rule is skipped for comments whose expressions
            have none of them.

    Raises:
        KeyError: For an id that ``findings.rules`` lacks, or if ``reads`` has an operator that is not a comparison.
    """
    if unknown := ({*ids} - RULES.keys()) | ({*reads} - COMPARING - {""}):
        raise KeyError(unknown)

    def register(find: _Find) -> _Find:
        REGISTERED[of].append(Registered(frozenset(ids), find, frozenset(needs), frozenset(reads)))
        return find

    return register


def find_definition(spec: PipelineSpec, name: str) -> Path | None:
    """Return the place of the last stage that computes the rows' field ``name``, or None if no stage does."""
    for number, stage in reversed([*enumerate(spec.pipeline)]):
        made = find_made(stage, name)
        if made is not None and made.becomes == "made":
            return (number, *stage, name)
    return None


def find_made(stage: Mapping[str, Any], name: str) -> Field | None:
    """Return the effect of a stage such as ``$set`` on a field that its argument names, or None."""
    ((operator, argument),) = stage.items()
    if not isinstance(argument, dict) or name not in argument:
        return None
    if is_flag(argument[name]):
        return Field(split_path(name), (name,), "kept" if truthy(argument[name]) else "dropped")
    fields = effect_of(operator, argument).fields
    return next((one for one in fields if one.place == (name,) and one.parts == split_path(name)), None)


@dataclass(frozen=True)
class RuleContext:
    """A table or chart under inspection.

    ``known``: the shape of its collection comes from real documents. ``rows``: None if its pipeline was not run.
    ``within``: if ``flow`` is the pipeline inside a join, its position in the whole pipeline. ``documents``: the
    documents of all collections.
    """

    spec: PipelineSpec
    flow: Flow
    known: bool
    rows: Rows | None = None
    within: Path = ()
    documents: Documents | None = None

    @classmethod
    def of(cls, spec: PipelineSpec, documents: Shape, *, known: bool) -> RuleContext:
        """Return the context of a spec whose collection has documents of this shape."""
        flow = flow_of(spec.pipeline, documents, spec.let)
        return cls(spec=spec, flow=flow, known=known)

    @cached_property
    def shown_columns(self) -> Sequence[tuple[Path, str]]:
        """The columns, and other fields that are shown (``PipelineSpec.shown_columns``)."""
        return self.spec.shown_columns

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The fields of the rows that are shown."""
        return tuple(
            column for path, column in self.shown_columns if path[0] not in ("spread", "baseline", "format")
        )

    @cached_property
    def headers(self) -> tuple[str, ...]:
        """The headers of the columns, with the unit that the format adds."""
        spec, found = self.spec, list[str]()
        if isinstance(spec, TableSpec):
            for column, header in zip(spec.columns, spec.headers, strict=True):
                form = spec.format.get(column)
                found.append(with_unit(header, form.raw_unit) if form else header)
        return tuple(found)

    @cached_property
    def facts(self) -> frozenset[str]:
        """The names of the pipeline's stages and operators, and facts that decide which rules run.

        ``expression``: the pipeline has expressions. ``storage``, ``chance``: the rows are in storage order, or in no
        defined order. ``arrays``: rows have arrays whose elements have a known order. ``failed``: documents may have
        the field ``failed``. ``format``: columns have formats. ``shows NAME``: a column shows the field. ``missing``:
        rows may lack a column. ``unit``: the unit of a column is known. ``name of versions``: a column is named for
        versions. ``fractions``: a column may have numbers with fractions. ``_facts_of_stage`` adds the facts about
        conditions and sorts.
        """
        flow, order = self.flow, self.orders[-1] if self.orders else STORED
        found = {order.by.value, *flow.names, "arrays" if order.arrays else ""}
        for stage in flow.stages:
            if stage.text.places:
                found.add("expression")
            if stage.name == "$sort" or "$match" in stage.names:
                found |= _facts_of_stage(stage, self.known)
        if member(flow.documents, FAILED).kinds:
            found.add("failed")
        if self.spec.format:
            found.add("format")
        for _, name in self.shown_columns:
            shape = column_shape(flow.rows, name)
            found.add(f"shows {name}")
            if shape.missing:
                found.add("missing")
            if shape.traits.unit:
                found.add("unit")
            if VERSION_NAME.search(name):
                found.add("name of versions")
            if not self.known or shape.kinds & FRACTIONS:
                found.add("fractions")
        return frozenset(found)

    @cached_property
    def visited(self) -> Mapping[str, Sequence[Visit]]:
        """The comparisons in expressions, by operator, in order of evaluation; the key "" has the reads of fields."""
        found = defaultdict[str, list[Visit]](list)
        for stage in self.flow.stages:
            for name, visits in stage.visits.items():
                found[name] += visits
        return found

    def visits(self, *names: str) -> list[Visit]:
        """Return the visits of these operators, in alphabetical order of the operators."""
        return [visit for name in sorted(names) for visit in self.visited.get(name, ())]

    @cached_property
    def comparisons(self) -> Sequence[tuple[Visit, Operand, Operand]]:
        """The comparisons with a constant in expressions, each with the constant and the other operand."""
        constants: dict[Path, Sequence[int]] = {}
        for stage in self.flow.stages:
            constants |= stage.text.once(_list_constants)
        return [
            (visit, visit.operands[at], visit.operands[1 - at])
            for visit in self.visits(*COMPARING)
            for at in constants.get(visit.path, ())
        ]

    @property
    def fields_read(self) -> Sequence[Visit]:
        """Every field and variable that an expression reads, in order of evaluation."""
        return self.visited.get("", ())

    def uses(self, *names: str) -> Iterator[Use]:
        """Yield every use of these stages and operators, in reading order."""
        for stage in self.flow.stages:
            if not stage.names.isdisjoint(names):
                yield from [use for use in stage.uses if use.name in names]

    def written(self, expression: Any, path: Path) -> tuple[Any, int]:
        """Return the expression that computes a field or a variable, and the number of its stage.

        Renamed fields are followed. If no stage computes the field, return ``expression`` and the number of the stage
        at ``path``.
        """
        number = int(path[0]) if path else len(self.flow.stages)
        if isinstance(expression, str) and expression[:2] == "$$":
            part: Any = self.spec.pipeline
            for step in path[:-1]:
                part = part[step]
                bound = part.get("vars") if isinstance(part, Mapping) else None
                if isinstance(bound, Mapping) and expression[2:] in bound:
                    return self.written(bound[expression[2:]], path[:1])
        if not isinstance(expression, str) or not re.match(r"\$[^$]", expression):
            return expression, number
        parts = split_path(expression[1:])
        for stage in reversed(self.flow.stages[:number]):
            found: Any = stage.argument if stage.name in _MAKING else {}
            for part in parts:
                found = found.get(part) if isinstance(found, Mapping) else None
            if is_flag(found) or (found is None and stage.name != "$group"):
                continue
            if isinstance(found, str) and found[:1] == "$":
                return self.written(found, (stage.number,))
            return (expression, number) if found is None else (found, stage.number)
        return expression, number

    @cached_property
    def orders(self) -> list[RowOrder]:
        """The origin of the order of documents after each stage."""
        return orders(self.spec.pipeline)

    @cached_property
    def seen_sorting(self) -> Sorting | None:
        """The sort that orders the rows, if the rows still have all of its keys."""
        sorting = last_sorting(self.spec.pipeline, self.orders)
        for key in sorting.keys if sorting else ():
            if sorting and not is_kept(key, sorting.behind):
                return None
        return sorting

    def at(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        """Return the line and column of a place in the pipeline."""
        return self.spec.locate(("pipeline", *self.within, *path), key=key)

    def finding(self, rule: str, at: tuple[int, int], message: str, hint: str = "") -> Finding:
        """Return a finding about this subject."""
        return finding(rule, self.spec.file, at, message, hint)

    def in_pipeline(
        self, rule: str, path: Path, message: str, hint: str = "", *, key: bool = False
    ) -> Finding:
        """Return a finding at a place in the pipeline."""
        return self.finding(rule, self.at(path, key=key), message, hint)

    def stages(self, *names: str) -> Iterator[StageFlow]:
        """Yield the stages of these names."""
        return (stage for stage in self.flow.stages if stage.name in names)


def _list_constants(stage: StageText) -> Mapping[Path, Sequence[int]]:
    """Return, for each comparison of two arguments, the positions of those that are constants."""
    return {
        place.path: [at for at, (_, text) in enumerate(place.arguments) if _is_constant(text)]
        for place in stage.places
        if place.name in COMPARING and len(place.arguments) == 2
    }


def _is_constant(expression: Any) -> bool:
    if isinstance(expression, list):
        return not any(map(is_computed, expression))
    return not is_computed(expression)


def is_computed(operand: Any) -> bool:
    """Return whether an operand is an expression or a list, not a plain constant."""
    return operand[:1] == "$" if isinstance(operand, str) else isinstance(operand, (dict, list))


def _facts_of_stage(stage: StageFlow, known: bool) -> set[str]:
    """Return the facts about a stage that has conditions or sorts.

    A condition compares with false (``asks for false``), compares with a string that begins with a dollar sign (``asks
    for text with $``), tests a field that no document has (``asks for nothing``), tests a field with arrays (``asks for
    arrays``), tests a field with strings after the first stage (``asks for texts later``), or compares with a constant
    of a kind that the field may never have (``asks for other kinds``). An inner pipeline has conditions (``asks within
    a stage``). No document has a sort key (``sorts by nothing``), or a sort key may be a string (``sorts by texts``).
    """
    found = set[str]()
    if stage.name == "$match":
        for name, condition, _ in conditions_in(stage.argument):
            if name.startswith("$"):
                continue
            kinds = lookup(stage.before, tuple(name.split("."))).kinds
            found.add("asks for false" if condition is False else "")
            found.add("asks for text with $" if _TEXT_WITH_DOLLAR.search(repr(condition)) else "")
            found.add("asks for arrays" if "array" in kinds else "")
            found.add("asks for texts later" if "string" in kinds and stage.number else "")
            found.add("asks for nothing" if kinds <= ARRAY else "")
            for operand in condition.values() if isinstance(condition, Mapping) else (condition,):
                values = operand if isinstance(operand, list) else [operand]
                if isinstance(operand, dict) or kinds.isdisjoint(map(type_name, values)):
                    found.add("asks for other kinds")
    elif stage.name == "$sort":
        for name in stage.argument:
            shape = lookup(stage.before, tuple(name.split(".")))
            found.add("" if shape.kinds else "sorts by nothing")
            for one in (shape, *shape.fields.values()):
                found.add("sorts by texts" if not known or one.kinds & _TEXTS else "")
    elif "$match" in stage.names:
        found.add("asks within a stage")
    return found


def last_operator(path: Path) -> str:
    """Return the operator whose argument, or whose named argument ``input``, is at a position in a pipeline."""
    return next((str(part) for part in reversed(path) if not isinstance(part, int) and part != "input"), "")


def quote(names: Iterable[Any]) -> str:
    """Return names in backticks: ``a``, ``a`` and ``b``, or ``a``, ``b`` and ``c``."""
    each = [f"`{name}`" for name in names]
    return each[0] if len(each) == 1 else f"{', '.join(each[:-1])} and {each[-1]}"


def differing_columns(spec: PipelineSpec, one: Row, other: Row) -> list[str]:
    """Return the columns in which readers can see a difference between two rows."""
    columns = dict.fromkeys(column for _, column in spec.shown_columns)
    return [name for name in columns if repr(column_value(one, name)) != repr(column_value(other, name))]
