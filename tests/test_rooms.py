"""The rooms of the program: data flows one way through them, and the architecture page shows them as they are."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest

from hooks.rooms import (
    ORDER,
    PACKAGE,
    Import,
    drawn_arrows,
    imports,
    modules,
    purposes,
    room_of,
    rooms_text,
)

ROOT = Path(__file__).parents[1]
KNOWN = modules(ROOT / "preprocessor" / PACKAGE)


@pytest.fixture(scope="module")
def found() -> set[Import]:
    return imports(KNOWN)


def upward(found: Iterable[Import]) -> list[str]:
    """Imports of a room that does not stand behind the importing one."""
    return sorted(
        f"{one.module} imports {one.imported}"
        for one in found
        if one.room and one.of and one.room != one.of and ORDER.index(one.room) > ORDER.index(one.of)
    )


def circles(found: Iterable[Import]) -> list[list[str]]:
    """The groups of modules that import each other in a circle (Tarjan's strongly connected components)."""
    inner: dict[str, set[str]] = {}
    for one in found:
        inner.setdefault(one.module, set()).add(one.imported)
    return [sorted(group) for group in connected(inner) if len(group) > 1]


def connected(inner: Mapping[str, set[str]]) -> Iterator[list[str]]:
    """Tarjan's algorithm: each group of nodes that reach one another."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    open_ones: list[str] = []

    def visit(node: str) -> Iterator[list[str]]:
        number[node] = low[node] = len(number)
        open_ones.append(node)
        for one in sorted(inner.get(node, ())):
            if one not in number:
                yield from visit(one)
            if one in open_ones:
                low[node] = min(low[node], low[one])
        if low[node] == number[node]:
            place = open_ones.index(node)
            yield open_ones[place:]
            del open_ones[place:]

    for node in sorted(inner):
        if node not in number:
            yield from visit(node)


def write(root: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        path = root / PACKAGE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return root / PACKAGE


def test_there_are_thirteen_rooms_three_modules_and_no_other() -> None:
    assert {room_of(name) for name in KNOWN} - {""} == set(ORDER)
    folders = {
        path.name
        for path in (ROOT / "preprocessor" / PACKAGE).iterdir()
        if path.is_dir() and path.name != "__pycache__"
    }
    assert folders == {*ORDER} - {"program", "cli", "build"}
    assert len(ORDER) == 16


def test_a_room_imports_only_from_the_rooms_behind_it(found: set[Import]) -> None:
    assert upward(found) == []


def test_no_modules_import_each_other_in_a_circle(found: set[Import]) -> None:
    assert circles(found) == []


def test_no_two_modules_have_a_class_of_one_name() -> None:
    named = Counter(
        node.name
        for path in KNOWN.values()
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.ClassDef)
    )
    assert [name for name, times in named.items() if times > 1] == []


def test_the_aggregation_language_imports_nothing_of_ours(found: set[Import]) -> None:
    assert {one.of for one in found if one.room == "aggregation"} == {"aggregation"}


@pytest.mark.parametrize(
    "text",
    [
        "import mongo_tables.hosts.plugin\n",
        "from mongo_tables.hosts.plugin import Plugin\n",
        "from mongo_tables.hosts import plugin\n",
        "from ..hosts import plugin\n",
        "from ..hosts.plugin import Plugin\n",
        "def read():\n    from mongo_tables.hosts import plugin\n",
        "plugin = import_module('mongo_tables.hosts.plugin')\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from mongo_tables.hosts.plugin import Plugin\n",
    ],
    ids=["module", "name", "submodule", "relative", "relative-name", "late", "by-name", "types-only"],
)
def test_an_upward_import_is_seen_however_it_is_written(tmp_path: Path, text: str) -> None:
    files = {"__init__.py": "", "files/__init__.py": "", "files/folders.py": text}
    root = write(tmp_path, {**files, "hosts/__init__.py": "", "hosts/plugin.py": "class Plugin: ...\n"})
    assert upward(imports(modules(root))) == ["mongo_tables.files.folders imports mongo_tables.hosts.plugin"]


def test_a_circle_is_seen_though_one_side_imports_late(tmp_path: Path) -> None:
    files = {
        "files/__init__.py": "",
        "files/one.py": "from mongo_tables.files import two\n",
        "files/two.py": "from mongo_tables.files import three\n",
        "files/three.py": "def read():\n    from mongo_tables.files.one import x\n",
        "files/four.py": "from mongo_tables.files.one import x\n",
    }
    found = imports(modules(write(tmp_path, files)))
    assert circles(found) == [[f"mongo_tables.files.{name}" for name in ("one", "three", "two")]]


def test_the_architecture_page_lists_each_room_with_the_first_line_of_its_docstring(tmp_path: Path) -> None:
    text = rooms_text(ROOT / "preprocessor" / PACKAGE)
    listed = [line.split(" | ") for line in text.splitlines() if line.startswith("| `")]
    assert [(room.strip("| `"), said.removesuffix(" |")) for room, said in listed] == list(
        purposes(ROOT / "preprocessor" / PACKAGE).items()
    )
    files = {f"{room}.py": f'"""The purpose of {room}.\n\nMore.\n"""\n' for room in ORDER}
    assert "| `lint` | The purpose of lint. |" in rooms_text(write(tmp_path, files))


def test_every_room_says_what_it_is_for() -> None:
    assert [
        room
        for room, said in purposes(ROOT / "preprocessor" / PACKAGE).items()
        if not said.endswith((".", "command line")) or len(said) < 20
    ] == []


def test_the_picture_leaves_out_only_arrows_that_follow_from_others() -> None:
    assert drawn_arrows({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == {"a": {"b"}, "b": {"c"}, "c": set()}


STATES = {
    *(
        "stat",
        "lstat",
        "fstat",
        "statx",
        "getmtime",
        "getctime",
        "getatime",
        "getsize",
        "samefile",
        "samestat",
    ),
    *("st_mode", "st_size", "st_ino", "st_dev", "st_mtime", "st_mtime_ns", "st_ctime", "st_ctime_ns"),
    *("st_atime", "st_atime_ns", "DirEntry", "utime", "_exit"),
}
PATCHES = {"excepthook", "getsource", "getsourcelines", "getsourcefile", "linecache", "inspect", "_getframe"}
STATES_FOR_OTHER_ENDS = {
    "files/atomic.py": {"stat", "st_mode"},  # a file that is written again keeps its rights
    "results/file_listing.py": {"stat", "st_size"},  # `init` skips large files and empty ones
    "commands/init/setup.py": {"stat", "st_size"},
}


def names_in(code: str) -> set[str]:
    """All names that code uses or imports, and those that it spells in a string, as for ``getattr``."""
    names: set[str] = set()
    for one in ast.walk(ast.parse(code)):
        match one:
            case ast.Attribute(attr=name) | ast.Name(id=name):
                names.add(name)
            case ast.alias(name=name) | ast.ImportFrom(module=str(name)) | ast.Constant(value=str(name)):
                names |= {*name.split(".")}
    return names


def test_only_the_runner_asks_for_the_state_of_files_and_nothing_patches_or_reads_programs() -> None:
    """What is kept never depends on the state of a file, and no other program is patched or read."""
    package = ROOT / "preprocessor" / PACKAGE
    found = {}
    for path in sorted(package.rglob("*.py")):
        file = path.relative_to(package).as_posix()
        refused = PATCHES if file.startswith("runner/") else PATCHES | STATES
        if used := names_in(path.read_text("utf-8")) & refused:
            found[file] = used
    assert found == STATES_FOR_OTHER_ENDS


@pytest.mark.parametrize(
    "code",
    [
        "os.stat(file).st_mtime_ns",
        "file.stat()",
        "sorted(files, key=Path.stat)",
        "from os import stat as look",
        "from os.path import getmtime",
        "import posix; posix.lstat(file)",
        "[entry.stat() for entry in os.scandir(folder)]",
        "getattr(os, 'stat')(file)",
        "attrgetter('stat.st_mtime')",
        "import inspect as looking",
        "from inspect import getsource",
        "sys.excepthook = hook",
        "from os import _exit",
    ],
)
def test_whoever_asks_for_a_state_is_seen(code: str) -> None:
    assert names_in(code) & (STATES | PATCHES)
