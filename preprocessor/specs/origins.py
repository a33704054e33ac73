"""Where a stage is written in its comment: as a stage, by the name of a shared list, or by a key such as ``sort``."""

from typing import Literal, NamedTuple

from preprocessor.jsontext.model import Path


class Origin(NamedTuple):
    """Where a stage is written.

    ``path`` leads to what stands in the comment: the stage itself, the name of the shared list that has it, or the key
    whose value is the stage's operand. ``fields``: where that value is a list of the fields of a sort, their names.
    """

    path: Path
    form: Literal["stage", "shared", "key"] = "stage"
    fields: tuple[str, ...] = ()

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
