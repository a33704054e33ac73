"""Opens the results source that a text names, from a table of the kinds of sources.

To add a kind, add a row to ``KINDS`` and a module with its source.

Text that names files as a results source: ``runs=bench/*.json, startup.csv?version=text``.

Commas separate the parts. A part is a path or a pattern (https://docs.python.org/3/library/glob.html). An optional
prefix is the name of a collection, which gets all of its files; an optional suffix, as in a URI, has the types of
columns. A text that is an existing path is only that path, whatever characters it has.

Redaction of a URI's credentials in all output.

``redact`` keeps only parts that it recognises as harmless; ``scrub`` cleans text from the driver or the server. Source
of the URI's grammar: https://www.mongodb.com/docs/manual/reference/connection-string/
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from os.path import lexists
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import unquote, unquote_plus

if TYPE_CHECKING:
    from mongo_tables.results.guards import Limits
    from mongo_tables.results.model import ResultsError, ResultsSource

_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


class SourceKind(NamedTuple):
    """A kind of results source.

    ``form`` and ``meaning`` are its line in the help, ``short`` is its name in a sentence, ``give`` is what a hint asks
    to write. ``is_named`` decides whether a text that no earlier kind accepts names one; ``open`` opens the source.
    """

    form: str
    meaning: str
    short: str
    give: str
    is_named: Callable[[str], bool]
    open: Callable[[str, Limits], ResultsSource]


def is_uri(where: str, folder: Path = Path()) -> bool:
    """Return whether ``where`` is a URI, or was meant to be one and so may contain a password. Otherwise it is a path.

    A path is relative to ``folder``. A text with an ``@``, or that begins with ``mongodb``, is a path only if that file
    or folder exists: ``mongodb:/user:password@host`` lacks a slash.
    """
    if _SCHEME.match(where.strip()):
        return True
    return any(_is_meant_as_uri(part, folder / part.pattern) for part in split_parts(where, folder))


def _is_meant_as_uri(part: SourcePart, path: Path) -> bool:
    if _SCHEME.match(part.pattern.strip()):
        return True
    there = next((place for place in (path, *path.parents) if lexists(place)), Path())
    absent = str(path.relative_to(there)) if path != there else ""
    begins = f"{part.name}:" if ":" in part.name else absent
    return "@" in f"{part.name}{absent}{absent and part.types}" or begins.lower().startswith("mongodb")


def _open_deployment(where: str, limits: Limits) -> ResultsSource:
    from mongo_tables.results.mongodb import MongoSource

    return MongoSource(where, limits)


def _names_files(where: str) -> bool:
    """Return whether a text names files: one, some by a pattern, or parts with more than a path."""
    if is_uri(where):
        return False
    parts = split_parts(where)
    if len(parts) != 1 or str(parts[0]) != parts[0].pattern or not parts[0].is_path:
        return True
    path = Path(parts[0].pattern)
    if lexists(path):
        return not path.is_dir()
    from mongo_tables.results.formats import READ
    from mongo_tables.results.formats.model import suffix_of

    return suffix_of(path.name) in READ


def _open_files(where: str, limits: Limits) -> ResultsSource:
    from mongo_tables.results.file_source import FileSource

    return FileSource(where, split_parts(where), limits)


def _open_fixtures(where: str, limits: Limits) -> ResultsSource:
    from mongo_tables.results.file_source import open_fixtures

    return open_fixtures(Path(where), limits)


_FIXTURES: Final = SourceKind(
    form="FOLDER",
    meaning="such files in a folder, and fixture files FOLDER/COLLECTION/*.jsonl",
    short="a folder",
    give="the path of a folder (. for this one)",
    is_named=lambda where: not is_uri(where),
    open=_open_fixtures,
)

KINDS: Final = (
    SourceKind(
        form="mongodb://HOST/DATABASE",
        meaning="a MongoDB deployment; nothing is ever written to it",
        short="a mongodb:// URI",
        give="mongodb://HOST/DATABASE, mongodb+srv://HOST/DATABASE",
        is_named=lambda where: where.lower().startswith(("mongodb://", "mongodb+srv://")),
        open=_open_deployment,
    ),
    SourceKind(
        form="[NAME=]FILE[?COLUMN=TYPE],…",
        meaning="files of results, or patterns: JSON, JSON Lines, CSV, TSV, YAML, TOML, Parquet, also packed (.gz)",
        short="a file",
        give="the path of a file (bench.json), a pattern (runs=bench/*.csv)",
        is_named=_names_files,
        open=_open_files,
    ),
    _FIXTURES,
)
"""Every kind of results source, in the order of matching. The folder is last: it accepts any text that is not a URI."""


def list_kinds(more: Iterable[tuple[str, str]] = ()) -> str:
    """Return one line of help for each kind of source and each of ``more``: what to write, and its meaning."""
    lines = [*((kind.form, kind.meaning) for kind in KINDS), *more]
    width = max(len(form) for form, _ in lines)
    return "\n".join(f"  {form:<{width}}   {meaning}" for form, meaning in lines)


def join_kinds() -> str:
    """Return the names of all kinds, joined with "or" for a sentence."""
    *first, last = (kind.short for kind in KINDS)
    return f"{', '.join(first)} or {last}"


def open_source(where: str, limits: Limits | None = None) -> ResultsSource:
    """Open the source that ``where`` names, without connecting or reading.

    Raises ``ResultsError`` for a text that names no source.
    """
    where = where.strip()
    if not where:
        raise _unusable("an empty string does not name a results source")
    kind = _kind_of(where)
    if kind is None:  # The text after the scheme may contain a password.
        scheme = _SCHEME.match(where)
        shown = f"{scheme[0].lower() if scheme else 'mongodb://'}***"
        raise _unusable(f"the results source {shown} is not {join_kinds()} that exists")
    from mongo_tables.results.guards import Limits

    return kind.open(where, limits or Limits())


def move_source(where: str, folder: Path, write: Callable[[Path], str]) -> str:
    """Return the source for another place: paths in ``where`` are relative to ``folder``. ``write`` writes them."""
    return where if is_uri(where, folder) else move_parts(where, folder, write)


def is_fixture_folder(where: str) -> bool:
    """Return whether ``where`` names fixtures, into which ``pull`` can write."""
    return _kind_of(where.strip()) is _FIXTURES


def _kind_of(where: str) -> SourceKind | None:
    return next((kind for kind in KINDS if kind.is_named(where)), None)


def _unusable(message: str) -> ResultsError:
    hint = f"give {', or '.join(kind.give for kind in KINDS)}"
    from mongo_tables.results.model import ResultsError  # the help of a command needs only the table

    return ResultsError(message, hint=hint, environment=True)


_COMMA: Final = r",(?![^\[\]]*\])"
"""A comma outside the brackets of a pattern."""
_PART: Final = r"(?s)(?:(?P<name>[^=/\\?*\[]+)=)?(?P<pattern>.*?)(?:\?(?P<types>[^?/\\]*=[^?/\\]*))?"
_MAGIC: Final = re.compile(r"([*?\[,])")
"""Characters that have a meaning in a pattern, or would end it."""


class SourcePart(NamedTuple):
    """One part: a path or a pattern, the collection of all its files ("": each its own), and the types of columns.

    The types are the source text: ``version=text&day=date``.
    """

    name: str
    pattern: str
    types: str

    @property
    def is_path(self) -> bool:
        """Whether the part is the path of one file or folder, existing or not."""
        return not has_magic(self.pattern) or lexists(self.pattern)

    def __str__(self) -> str:
        """Return the part as source text."""
        return f"{self.name and f'{self.name}='}{self.pattern}{self.types and f'?{self.types}'}"


def has_magic(pattern: str) -> bool:
    """Return whether the text has wildcards."""
    return _MAGIC.search(pattern) is not None


def split_parts(where: str, folder: Path = Path()) -> list[SourcePart]:
    """Return the parts of a text, at least one; exactly one if it is an existing path relative to ``folder``.

    Example:
        >>> [part.pattern for part in split_parts("runs=bench/*.json, startup.csv?version=text")]
        ['bench/*.json', 'startup.csv']
    """
    whole = SourcePart("", where.strip(), "")
    if lexists(folder / whole.pattern):
        return [whole]
    found = (re.fullmatch(_PART, text.strip()) for text in re.split(_COMMA, where))
    parts = [
        SourcePart(*((one[name] or "").strip() for name in SourcePart._fields))
        for one in found
        if one and one[0]
    ]
    return parts or [whole]


def move_parts(where: str, folder: Path, write: Callable[[Path], str]) -> str:
    """Return the text for another place: its paths are relative to ``folder``, and ``write`` writes them."""
    parts = split_parts(where, folder)
    if len(parts) == 1 and str(parts[0]) == parts[0].pattern:
        pattern = parts[0].pattern
        if lexists(folder / pattern) or not has_magic(pattern):
            return write(folder / pattern)
    base = _MAGIC.sub(r"[\1]", write(folder))
    return ",".join(str(one._replace(pattern=_move(one.pattern, base))) for one in parts)


def _move(pattern: str, base: str) -> str:
    """Return the pattern for another place. Pathlib would drop the slash of "?=/" and keep the types."""
    return pattern if Path(pattern).is_absolute() else f"{base}/{pattern}"


HIDDEN = "***"

_HOST = r"(?:[A-Za-z0-9._%-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?"
_SHOWABLE = re.compile(
    rf"(?P<scheme>mongodb(?:\+srv)?)://(?P<user>[^@/?#\s]*@)?(?P<hosts>{_HOST}(?:,{_HOST})*)"
    r"(?:/(?P<database>[^/?#@\s]*))?(?:\?[^@]*)?",
    re.IGNORECASE,
)
_SECRET_OPTIONS = re.compile(r"(?:password|passphrase|username|properties|token|secret)", re.IGNORECASE)


def redact(uri: str) -> str:
    """Return the URI without user, password and options: ``mongodb://host:27017/database``.

    For a malformed URI (such as a password with a bare ``@`` or ``/``) only the scheme is returned, because any other
    part could be the secret.

    Example:
        >>> redact("mongodb://me:secret@db.example:27017/performance?tls=true")
        'mongodb://db.example:27017/performance'
    """
    match = _SHOWABLE.fullmatch(uri.strip())
    if match is None:
        scheme = "mongodb+srv" if uri.strip().lower().startswith("mongodb+srv") else "mongodb"
        return f"{scheme}://{HIDDEN}"
    database = match["database"]
    return f"{match['scheme'].lower()}://{match['hosts']}" + (f"/{database}" if database else "")


def holds_secret(uri: str) -> bool:
    """Return whether a URI, well formed or not, has a password or an option that is a secret."""
    rest = uri.partition("://")[2]
    options = (option.partition("=") for option in rest.partition("?")[2].split("&"))
    told = any(value and _SECRET_OPTIONS.search(name) for name, _, value in options)
    return told or bool(rest.rpartition("@")[0].partition(":")[2])


def scrub(text: str, uri: str) -> str:
    """Return ``text`` with the URI, its user, its password and its secret options replaced by ``***``.

    Example:
        >>> scrub("no user me with secret", "mongodb://me:secret@db.example/")
        'no user *** with ***'
    """
    text = text.replace(uri, redact(uri))
    for secret in sorted(_secrets(uri), key=lambda found: (-len(found), found)):
        if len(secret) >= 4:
            text = text.replace(secret, HIDDEN)
        else:  # a two-letter user occurs within words: replace it only as a whole word
            text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", HIDDEN, text)
    return text


def _secrets(uri: str) -> set[str]:
    rest = uri.partition("://")[2]
    user, _, password = rest.rpartition("@")[0].partition(":")
    found = {user, password}
    for option in rest.partition("?")[2].split("&"):
        name, _, value = option.partition("=")
        if _SECRET_OPTIONS.search(name):
            found.add(value)
            found.update(part.partition(":")[2] for part in value.split(","))
    return {form for secret in found for form in (secret, unquote(secret), unquote_plus(secret)) if form}
