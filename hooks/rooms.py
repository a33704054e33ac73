"""The rooms of the program, in their order, and their picture on the architecture page (a MkDocs hook).

The order stands here and nowhere else: ``tests/test_rooms.py`` holds the imports to it. The purpose of each room is
the first line of its docstring, the arrows are its imports; both are read as text, nothing of the program runs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Final

ORDER: Final = (
    "program",
    "cli",
    "hosts",
    "lsp",
    "commands",
    "build",
    "site",
    "lint",
    "render",
    "runner",
    "directives",
    "results",
    "jsontext",
    "aggregation",
    "findings",
    "files",
)
"""A room imports only from those behind it; ``program``, ``cli`` and ``build`` are modules."""

PACKAGE: Final = "mongo_tables"
PAGE: Final = "contributing/architecture.md"
MARK: Final = "<!-- rooms -->"


@dataclass(frozen=True)
class Import:
    """That one module imports another."""

    module: str
    imported: str

    @property
    def room(self) -> str:
        """The room of the module that imports."""
        return room_of(self.module)

    @property
    def of(self) -> str:
        """The room of the module that is imported."""
        return room_of(self.imported)


def program() -> Path:
    """The folder of the program: beside these pages, or where it is installed."""
    found = find_spec(PACKAGE)
    assert found is not None and found.origin is not None
    return Path(found.origin).parent


def room_of(module: str) -> str:
    """The room of a module; empty for the package itself."""
    return f"{module}.".split(".")[1]


def modules(root: Path) -> dict[str, Path]:
    """Every module below the folder ``root``, by its dotted name."""
    found = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        found[".".join((root.name, *parts[: -1 if parts[-1] == "__init__" else None]))] = path
    return found


def imports(known: Mapping[str, Path]) -> set[Import]:
    """Every import of one known module by another: at the top, late, or for types only."""
    found = set()
    for name, path in known.items():
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        for imported in imported_names(ast.parse(path.read_text("utf-8")), package, known):
            if imported != name:
                found.add(Import(name, imported))
    return found


def imported_names(tree: ast.Module, package: str, known: Mapping[str, Path]) -> Iterator[str]:
    """The known modules that a module imports, wherever in it; also those that it names in full, to import by name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str) and node.value in known:
                yield node.value
        elif isinstance(node, ast.Import):
            yield from (one.name for one in node.names if one.name in known)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, base]).strip(".")
            for one in node.names:
                inner = f"{base}.{one.name}"
                if inner in known or base in known:
                    yield inner if inner in known else base


def purposes(root: Path) -> dict[str, str]:
    """What each room is for, in its own words, in the order of the rooms."""
    known = modules(root)
    return {room: purpose(known[f"{root.name}.{room}"]) for room in ORDER}


def purpose(module: Path) -> str:
    """The first line of a module's docstring."""
    return (ast.get_docstring(ast.parse(module.read_text("utf-8"))) or "").partition("\n")[0]


def arrows(found: set[Import]) -> dict[str, set[str]]:
    """For each room the rooms that it imports from."""
    return {
        room: {one.of for one in found if one.room == room and one.of not in ("", room)} for room in ORDER
    }


def drawn_arrows(of: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """The arrows without those that follow from others: what a room reaches on a longer way as well."""

    def reached(room: str) -> set[str]:
        return of[room].union(*(reached(inner) for inner in of[room]))

    return {room: inner - set().union(*(reached(one) for one in inner)) for room, inner in of.items()}


def rooms_text(root: Path) -> str:
    """The picture and the list of rooms, as Markdown."""
    lines = [f"| `{room}` | {text} |" for room, text in purposes(root).items()]
    table = "\n".join(["| Room | What it is for |", "| --- | --- |", *lines])
    return f"{picture(drawn_arrows(arrows(imports(modules(root)))))}\n\n{table}"


WIDTH: Final = 400
ROW: Final = 34
BOX: Final = 130


def picture(of: Mapping[str, set[str]]) -> str:
    """An SVG: the rooms from top to bottom, and an arc from each to those that it imports from."""
    said = "; ".join(
        f"{room} imports from {', '.join(sorted(inner, key=ORDER.index))}"
        for room, inner in of.items()
        if inner
    )
    parts = [
        f'<svg class="rooms" viewBox="0 0 {WIDTH} {ROW * len(ORDER) + 8}" role="img" aria-label="{escape(said)}">',
        '<defs><marker id="rooms-tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto"><path d="M0 0 8 4 0 8z" fill="currentColor"/></marker></defs>',
    ]
    parts += [box(row, room) for row, room in enumerate(ORDER)]
    for room, inner in of.items():
        parts += [arc(ORDER.index(room), ORDER.index(one)) for one in sorted(inner, key=ORDER.index)]
    return "".join([*parts, "</svg>"])


def box(row: int, room: str) -> str:
    """The box of one room."""
    top = row * ROW + 4
    return (
        f'<rect x="1" y="{top}" width="{BOX}" height="26" rx="4" fill="none" stroke="currentColor"/>'
        f'<text x="{1 + BOX / 2:g}" y="{top + 18}" font-size="14" text-anchor="middle" fill="currentColor">'
        f"{room}</text>"
    )


def arc(start: int, end: int) -> str:
    """The arrow between two rows: the further they are apart, the further it reaches to the right."""
    above, below = start * ROW + 21, end * ROW + 13
    reach = BOX + 24 + 52 * (end - start)
    return (
        f'<path d="M{BOX + 1} {above}C{reach} {above} {reach} {below} {BOX + 3} {below}" fill="none" '
        'stroke="currentColor" stroke-opacity="0.7" marker-end="url(#rooms-tip)"/>'
    )


def on_page_markdown(markdown: str, page: object, **_: object) -> str:
    """Puts the rooms in place of the mark on the architecture page."""
    path = page.file.src_uri  # type: ignore[attr-defined]
    return markdown.replace(MARK, rooms_text(program())) if path == PAGE else markdown
