"""The flow of a pipeline: what documents look like before and after every stage, and all that is computed."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from mongo_tables.lint.shape import arrays, choices, numbers
from mongo_tables.lint.shape.expressions import Path, Visit, Walk, shape_of
from mongo_tables.lint.shape.stages import UNKNOWN, behind
from mongo_tables.lint.shape.values import Shape

#: The modules that register what operators give.
REGISTERING = (arrays, choices, numbers)


class StageFlow(NamedTuple):
    """One stage: its name and argument, the shapes of documents before and after it, what it computes and reads."""

    number: int
    name: str
    argument: Any
    before: Shape
    after: Shape
    visits: tuple[Visit, ...]

    @property
    def path(self) -> Path:
        """Where the argument stands in the pipeline."""
        return (self.number, self.name)


class Flow(NamedTuple):
    """A whole pipeline. ``documents`` is the collection's shape, ``rows`` that of what comes out."""

    documents: Shape
    stages: tuple[StageFlow, ...]

    @property
    def rows(self) -> Shape:
        """What the rows look like."""
        return self.stages[-1].after if self.stages else self.documents

    @property
    def visits(self) -> list[Visit]:
        """Every operator and field of every stage, in order of evaluation."""
        return [visit for stage in self.stages for visit in stage.visits]


def flow_of(
    pipeline: Sequence[Mapping[str, Any]],
    documents: Shape,
    variables: Mapping[str, Any] | None = None,
    followed: dict[str, StageFlow] | None = None,
) -> Flow:
    """Carry the shape of a collection's documents through a pipeline. Nothing is computed.

    ``followed``: the last stages of pipelines over the same documents and variables, by the text of all their stages.
    """
    nothing = Walk(UNKNOWN, [])
    bound = {name: shape_of(value, nothing, ("let", name)) for name, value in (variables or {}).items()}
    followed = {} if followed is None else followed
    shape, stages, text = documents, [], ""
    for index, written in enumerate(pipeline):
        text += repr(written)
        stage = followed.get(text)
        if stage is None:
            ((name, argument),) = written.items()
            walk = Walk(shape, [], bound)
            after = behind(name, argument, walk, (index, name))
            stage = followed[text] = StageFlow(index, name, argument, shape, after, tuple(walk.visits))
        stages.append(stage)
        shape = stage.after
    return Flow(documents, tuple(stages))
