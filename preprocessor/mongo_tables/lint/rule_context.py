"""The input of a rule: one table or chart, the flow of its pipeline, and positions in the page.

A rule is a function that registers itself with ``rule``; its ids are in ``findings.rules``.

Knowledge about a collection's documents before the analysis of its pipelines.

If documents are available, the linter learns from those that pass the pipeline's first ``$match``; for benchmark
results the meaning of their fields is known. Without documents, a pipeline that is written for such results is assumed
to read them; about other documents nothing is known. The linter runs no other stage.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

from mongo_tables.aggregation import AggregationError, aggregate
from mongo_tables.aggregation.fields import Field, effect_of, split_path
from mongo_tables.aggregation.uses import Use, list_uses
from mongo_tables.aggregation.values import is_flag, truthy
from mongo_tables.directives.schemas import load
from mongo_tables.directives.specs import PipelineSpec, TableSpec
from mongo_tables.files.memo import Memo
from mongo_tables.findings.finding import Finding
from mongo_tables.findings.rules import RULES, finding
from mongo_tables.lint.row_order import STORED, RowOrder, Sorting, last_sorting, orders
from mongo_tables.lint.shape.document_shapes import learnt, read_schema_shape, select_telling
from mongo_tables.lint.shape.expressions import Operand, Path, Visit
from mongo_tables.lint.shape.flow import Flow, StageFlow, flow_of
from mongo_tables.lint.shape.values import Shape, column, unknown_documents
from mongo_tables.render.column import column_value, with_unit
from mongo_tables.results.model import ResultsError
from mongo_tables.results.provenance import expects_results, is_result

if TYPE_CHECKING:
    from mongo_tables.directives.specs import PipelineSpec
    from mongo_tables.results.file_source import FileSource

Document = dict[str, Any]
Stages = Sequence[Mapping[str, Any]]

_AT_ONCE: Final = 1_000
_MOST_BEGINNINGS: Final = 200
"""The beginnings of pipelines whose documents are kept; large sites have thousands."""


@dataclass(frozen=True, slots=True)
class Passing:
    """The documents that pass a first ``$match``; unless ``complete``, a representative selection of them."""

    documents: Sequence[Document] = ()
    complete: bool = True


@dataclass(frozen=True, slots=True)
class Begun:
    """The input of pipelines: the shape of documents, and whether it comes from real ones."""

    shape: Shape
    is_learned: bool
    followed: dict[str, StageFlow]


class Documents:
    """The documents of a results source, or none, for the rules.

    Comments share the work: documents by their first ``$match``, the shape of documents after a stage by all stages up
    to it.
    """

    def __init__(self, source: FileSource | None) -> None:
        self._source = source
        self._passing = Memo(_MOST_BEGINNINGS)
        self._begun = Memo(_MOST_BEGINNINGS)

    @property
    def at_hand(self) -> bool:
        """Whether there is a source of documents."""
        return self._source is not None

    def passing(self, collection: str, match: Stages, variables: Mapping[str, Any]) -> Passing:
        """Return the documents of a collection that pass ``match``: one stage, or none."""
        key = _key(collection, match, variables)
        return self._passing.get(key, lambda: self._read(collection, match, variables))

    def of(self, spec: PipelineSpec) -> Passing:
        """Return the documents that a comment's pipeline starts from."""
        return self.passing(spec.collection, leading_match(spec.pipeline), spec.let)

    def _read(self, collection: str, match: Stages, variables: Mapping[str, Any]) -> Passing:
        if self._source is None:
            return Passing()
        count = 0

        def counted(documents: Iterable[Document]) -> Iterator[Document]:
            nonlocal count
            for document in documents:
                count += 1
                yield document

        try:
            documents = self._source.choose(collection, match)
            found = select_telling(counted(_passing(documents, match, variables)))
        except (AggregationError, ResultsError):
            return Passing()  # The run of the pipeline reports the reason.
        return Passing(found, len(found) == count)

    def texts(self, collection: str, field: str) -> frozenset[str]:
        """Return the strings that documents of a collection have in a field."""
        return self._source.texts(collection, field) if self._source else frozenset()

    def shape_of_all(self, collection: str) -> Shape:
        """Return the shape of all documents of a collection."""
        return self._learn(f"all {collection}", self.passing(collection, (), {})).shape

    def begun(self, spec: PipelineSpec) -> Begun:
        """Return the input of a comment's pipeline."""
        first = leading_match(spec.pipeline)
        found = self.passing(spec.collection, first, spec.let)
        if found.documents:
            return self._learn(_key(spec.collection, first, spec.let), found)
        taken = self._source is None and expects_results(spec.pipeline)
        shape = load_result_shape() if taken else unknown_documents()
        return Begun(shape, False, {})

    def _learn(self, key: str, found: Passing) -> Begun:
        def begin() -> Begun:
            schema = load("result") if all(map(is_result, found.documents)) else None
            return Begun(learnt(found.documents, schema), True, {})

        return self._begun.get(key, begin)


def _key(collection: str, match: Stages, variables: Mapping[str, Any]) -> str:
    return repr((collection, *match, variables))


def leading_match(pipeline: Stages) -> Stages:
    """Return the stage that chooses documents before any other: the first stage, or none."""
    return pipeline[:1] if pipeline and "$match" in pipeline[0] else ()


@cache
def load_result_shape() -> Shape:
    """Return the shape of the documents that the runner writes. Read once, for all tables."""
    return read_schema_shape(load("result"))


def _passing(
    documents: Iterable[Document], match: Stages, variables: Mapping[str, Any]
) -> Iterator[Document]:
    """Yield the documents that pass a ``$match``, in batches."""
    if not match:
        yield from documents
        return
    left = iter(documents)
    while some := list(islice(left, _AT_ONCE)):
        yield from aggregate(some, match, variables=variables)


Row = Mapping[str, Any]
Rows = Sequence[Row]
Find = Callable[..., Iterator[Finding]]
_Find = TypeVar("_Find", bound=Find)


@dataclass(frozen=True, slots=True)
class Registered:
    """A rule: the ids of its findings, its function, and what it looks at (see ``rule``)."""

    ids: frozenset[str]
    find: Find
    needs: frozenset[str]
    reads: frozenset[str]


RuleInput = Literal["pipeline", "rows", "documents"]
"""The input of a rule: the comment alone, or with its rows or the documents behind them."""

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
        needs: Operators, keys or facts (``RuleContext.facts``); the rule is skipped for a comment with none of them.
        reads: Operators of expressions, "" for the fields that they read; the rule is skipped without such a visit.

    Raises:
        KeyError: For an id that ``findings.rules`` does not have.
    """
    if unknown := {*ids} - RULES.keys():
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
    """Return the effect on a field that a stage names itself, as ``$set``, ``$project`` and ``$group`` do."""
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
    """

    spec: PipelineSpec
    flow: Flow
    known: bool
    rows: Rows | None = None

    @classmethod
    def of(cls, spec: PipelineSpec, documents: Shape, *, known: bool) -> RuleContext:
        """Return the subject for a spec whose collection has documents of this shape."""
        flow = flow_of(spec.pipeline, documents, spec.let)
        return cls(spec=spec, flow=flow, known=known)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The fields of the rows that are shown."""
        return tuple(
            column
            for path, column in self.spec.shown_columns
            if path[0] not in ("spread", "baseline", "format")
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
        """The keys of the pipeline, and facts on which rules depend.

        ``format``: columns have one. ``unit``: that of a column is known. ``missing``: rows may lack a column.
        ``arrays``: the rows have arrays whose elements have a known order. ``storage`` and ``chance``: the rows come in
        this order. ``expression``: a stage computes something.
        """
        order = self.orders[-1] if self.orders else STORED
        found = {order.by.value, "format" if self.spec.format else "", "arrays" if order.arrays else ""}
        for _, name in self.spec.shown_columns:
            shape = self.column(name)
            found.add("missing" if shape.missing else "")
            found.add("unit" if shape.traits.unit else "")
        return self.flow.names.union(found, ("expression",) if self.visited else ())

    @cached_property
    def visited(self) -> Mapping[str, Sequence[Visit]]:
        """Every use of an operator in an expression, by name in order of evaluation; "" for the fields read."""
        found: dict[str, list[Visit]] = {}
        for stage in self.flow.stages:
            for visit in stage.visits:
                found.setdefault(visit.name, []).append(visit)
        return found

    def visits(self, *names: str) -> list[Visit]:
        """Return every use of these operators of expressions, by name."""
        return [visit for name in sorted(names) for visit in self.visited.get(name, ())]

    def comparisons(self, *names: str) -> Iterator[tuple[Visit, Operand, Operand]]:
        """Yield the uses of these operators with two operands, for each operand with the other one."""
        for visit in self.visits(*names):
            if len(visit.operands) == 2:
                one, other = visit.operands
                yield visit, one, other
                yield visit, other, one

    @property
    def fields_read(self) -> Sequence[Visit]:
        """Every field and variable that an expression reads, in order of evaluation."""
        return self.visited.get("", ())

    @cached_property
    def uses(self) -> tuple[Use, ...]:
        """Every stage and operator of the pipeline, in reading order."""
        return tuple(list_uses(self.spec.pipeline))

    @cached_property
    def orders(self) -> list[RowOrder]:
        """The origin of the order of documents after each stage."""
        return orders(self.spec.pipeline)

    @cached_property
    def seen_sorting(self) -> Sorting | None:
        """The sort that the rows keep to the end, if they still have all of its keys."""
        sorting = last_sorting(self.spec.pipeline, self.orders)
        return sorting if sorting is not None and sorting.is_seen else None

    def column(self, name: str) -> Shape:
        """Return the shape of a column: a field of this very name, else the value at the dotted path."""
        return column(self.flow.rows, name)

    def at(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        """Return the line and column of a place in the pipeline."""
        return self.spec.locate(("pipeline", *path), key=key)

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


def uses_in(stage: StageFlow) -> Iterator[Use]:
    """Yield the stage and the operators in it, with their places in the pipeline."""
    for use in list_uses([{stage.name: stage.argument}]):
        yield use._replace(path=(*stage.path, *use.path[2:]))


def last_operator(path: Path) -> str:
    """Return the operator whose argument, or ``input``, is at a place of a pipeline."""
    return next((str(part) for part in reversed(path) if not isinstance(part, int) and part != "input"), "")


def quote(names: Iterable[Any]) -> str:
    """Return names in backticks: ``a``, ``a`` and ``b``, or ``a``, ``b`` and ``c``."""
    each = [f"`{name}`" for name in names]
    return each[0] if len(each) == 1 else f"{', '.join(each[:-1])} and {each[-1]}"


def differing_columns(spec: PipelineSpec, one: Row, other: Row) -> list[str]:
    """Return the columns in which readers can see a difference between two rows."""
    columns = dict.fromkeys(column for _, column in spec.shown_columns)
    return [name for name in columns if repr(column_value(one, name)) != repr(column_value(other, name))]
