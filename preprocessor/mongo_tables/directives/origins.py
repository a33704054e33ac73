"""Where a stage is written: in its comment as a stage, by the name of a shared list, or by a key such as ``sort``."""

from typing import Literal, NamedTuple

from mongo_tables.findings.finding import Place
from mongo_tables.jsontext.document import Document
from mongo_tables.jsontext.model import Path


class Written(NamedTuple):
    """A stage in the file of a shared list: ``path`` leads there in its ``document``."""

    document: Document
    path: Path

    def locate(self, inner: Path, *, key: bool) -> Place:
        """The place of what is at ``inner`` in the stage, or with ``key`` of its key."""
        path = (*self.path, *inner)
        line, column = self.document.at_key(path) if key else self.document.at(path)
        return Place(self.document.file, line, column)


class Origin(NamedTuple):
    """Where a stage is written.

    ``path`` leads to what stands in the comment: the stage itself, the name of the shared list that has it, or the key
    whose value is the stage's operand. ``fields``: where that value is a list of the fields of a sort, their names.
    ``written`` is the stage in the file of the shared list, where one has it.
    """

    path: Path
    form: Literal["stage", "shared", "key"] = "stage"
    fields: tuple[str, ...] = ()
    written: Written | None = None

    def find(self, inner: Path) -> Path:
        """Give the path in the comment of what is at ``inner`` in the stage, or of the nearest thing written."""
        if self.form == "stage":
            return (*self.path, *inner)
        operand = inner[1:]
        if self.form == "shared" or not operand:
            return self.path
        if self.fields:
            return (*self.path, self.fields.index(str(operand[0])))
        return (*self.path, *operand)
