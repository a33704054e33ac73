"""The key ``compute``: arithmetic over columns, such as ``"mib": "docs * size / 1024"``, as a stage of the pipeline.

Python's own parser reads the expression, which is never evaluated by Python. A cell has no value if an operand is not a
number or a divisor is 0.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from mongo_tables.directives.columns import elements_by_key
from mongo_tables.findings.finding import Complaint
from mongo_tables.jsontext import Path

_OPERATORS: Final[Mapping[type[ast.operator], str]] = {
    ast.Add: "$add",
    ast.Sub: "$subtract",
    ast.Mult: "$multiply",
    ast.Div: "$divide",
    ast.Pow: "$pow",
}
_HINT: Final = (
    "numbers, columns, + - * / ** and parentheses; a column with other characters than letters, digits and _ is "
    "quoted: 'p99 ms'"
)
_ELEMENT: Final = re.compile(r"([^\W\d][\w.]*?)\.\d+\b(?:\.([^\W\d][\w.]*))?")
"""A path with an index, such as ``times.1.ms``."""
_MOST_CHARACTERS: Final = 500
_HIGHEST_POWER: Final = 64
_DEEPEST: Final = 80
"""The maximum depth of a compiled expression. BSON allows 100 levels."""


class ExpressionError(Exception):
    """A fault of an expression, at its offset."""

    def __init__(self, message: str, at: int, hint: str = _HINT) -> None:
        super().__init__(message)
        self.complaint = Complaint(message, hint, at, "MT133")


class Computed(NamedTuple):
    """A compiled expression.

    Attributes:
        value: The operand of ``$set``.
        columns: The columns that the expression reads, with their offsets in it.
        divisors: The offsets of the divisors.
        offsets: The offset of each part of ``value``, by path.
    """

    value: Any
    columns: Mapping[str, int]
    divisors: tuple[int, ...]
    offsets: Mapping[Path, int]


def compile_expression(text: str) -> Computed:
    """Compile an expression. Raises ``ExpressionError`` for an invalid one.

    Example:
        >>> compile_expression("docs * size / 1024").columns
        {'docs': 0, 'size': 7}
    """
    # In parentheses, leading blanks are no indentation.
    flat = text.translate({10: " ", 13: " ", 9: " "})
    if len(text) > _MOST_CHARACTERS:
        raise ExpressionError(
            f"the expression has more than {_MOST_CHARACTERS} characters", 0, "use a `pipeline`"
        )
    try:
        tree = ast.parse(f"({flat}\n)", mode="eval").body
    except SyntaxError as error:
        at = (error.offset or 2) - 2 if error.lineno == 1 else len(text)
        raise _refuse(text, max(min(at, len(text) - 1), 0)) from None
    except (ValueError, RecursionError, MemoryError):
        raise ExpressionError("this is not an arithmetic expression", 0) from None
    compiler = _Compiler(flat)
    value = compiler.compile(tree, ())
    if not compiler.columns:
        raise ExpressionError("the expression reads no column", 0)
    return Computed(value, compiler.columns, tuple(compiler.divisors), compiler.offsets)


def _refuse(text: str, at: int) -> ExpressionError:
    if element := _ELEMENT.search(text):
        stage = elements_by_key(element[1], "name", element[2] or "")
        hint = f'if the elements have a `name`, use it as a key in the pipeline: {stage}; then write "by.a / by.b"'
        return ExpressionError("an expression cannot read elements of a list by index", element.start(), hint)
    hint = "name a column without `$`" if "$" in text else _HINT
    return ExpressionError("this is not an arithmetic expression", at, hint)


class _Compiler:
    def __init__(self, text: str) -> None:
        self.text = text.encode()
        self.columns: dict[str, int] = {}
        self.divisors: list[int] = []
        self.offsets: dict[Path, int] = {}

    def compile(self, node: ast.expr, path: Path) -> Any:
        self.offsets[path] = self._offset(node)
        if len(path) > _DEEPEST:
            raise ExpressionError(
                "the expression is nested too deeply", self._offset(node), "use a `pipeline`"
            )
        match node:
            case ast.Constant(value=bool()):
                raise ExpressionError("this is not an arithmetic expression", self._offset(node))
            case ast.Constant(value=int() | float() as number):
                if abs(number) >= 2**63:
                    raise ExpressionError("the number is too large", self._offset(node))
                return number
            case ast.UnaryOp(op=ast.USub()):
                return {"$multiply": [-1, self.compile(node.operand, (*path, "$multiply", 1))]}
            case ast.BinOp() if type(node.op) in _OPERATORS:
                return self._binary(node, _OPERATORS[type(node.op)], path)
        return self._column(node)

    def _binary(self, node: ast.BinOp, name: str, path: Path) -> Any:
        if name == "$pow":
            power = node.right.value if isinstance(node.right, ast.Constant) else None
            if type(power) is not int or not 0 < power <= _HIGHEST_POWER:
                message = f"a power is a whole number from 1 to {_HIGHEST_POWER}"
                raise ExpressionError(message, self._offset(node.right))
        if name != "$divide":
            sides = enumerate((node.left, node.right))
            return {name: [self.compile(one, (*path, name, at)) for at, one in sides]}
        within = (*path, "$let", "in")
        quotient_at = (*within, "$cond", 2)
        left = self.compile(node.left, (*quotient_at, name, 0))
        right = self.compile(node.right, (*path, "$let", "vars", "by"))
        if right == 0:
            raise ExpressionError("the expression divides by 0", self._offset(node.right))
        if not isinstance(right, dict):
            return {"$divide": [left, right]}
        self.divisors.append(self._offset(node.right))
        quotient = {"$divide": [left, "$$by"]}
        return {"$let": {"vars": {"by": right}, "in": {"$cond": [{"$eq": ["$$by", 0]}, None, quotient]}}}

    def _column(self, node: ast.expr) -> Any:
        name = node.value if isinstance(node, ast.Constant) else self._name(node)
        if not isinstance(name, str) or name.startswith("$") or not all(name.split(".")):
            raise _refuse(str(name), self._offset(node))
        self.columns.setdefault(name, self._offset(node))
        return {"$cond": [{"$isNumber": f"${name}"}, f"${name}", None]}

    def _name(self, node: ast.expr) -> str | None:
        """Return a name or a dotted path as written, because Python's parser replaces some letters, such as µ."""
        inner = node
        while isinstance(inner, ast.Attribute):
            inner = inner.value
        written = self.text[node.col_offset - 1 : (node.end_col_offset or 0) - 1].decode("utf-8", "replace")
        return "".join(written.split()) if isinstance(inner, ast.Name) else None

    def _offset(self, node: ast.expr) -> int:
        return len(self.text[: max(node.col_offset - 1, 0)].decode("utf-8", "replace"))
