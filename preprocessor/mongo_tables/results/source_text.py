"""The text that names a results source: its parts, and its credentials, which no output may contain.

Files are named as in ``runs=bench/*.json, startup.csv?version=text``. Commas separate the parts. A part is a path or a
pattern (https://docs.python.org/3/library/glob.html). An optional prefix names the collection for all its files. An
optional suffix has the types of columns. If the whole text is an existing path, it is only that path, whatever
characters it has.

``redact`` keeps the parts of a URI that it recognises as harmless. ``scrub`` removes secrets from a text of the driver
or the server. https://www.mongodb.com/docs/manual/reference/connection-string/ defines URIs.
"""

from __future__ import annotations

import re
from os.path import lexists
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import unquote, unquote_plus

_COMMA: Final = r",(?![^\[\]]*\])"
"""A comma outside of the brackets of a pattern."""
_PART: Final = r"(?s)(?:(?P<name>[^=/\\?*\[]+)=)?(?P<pattern>.*?)(?:\?(?P<types>[^?/\\]*=[^?/\\]*))?"
_MAGIC: Final = re.compile(r"([*?\[,])")
"""Characters that have a meaning in a pattern, or would end it."""


class SourcePart(NamedTuple):
    """One part: the name of its collection, a path or a pattern, and the types of columns.

    Without a name, each file is a collection. The types are text: ``version=text&day=date``.
    """

    name: str
    pattern: str
    types: str

    @property
    def is_path(self) -> bool:
        """Whether the part is the path of one file or folder, which need not exist."""
        return _MAGIC.search(self.pattern) is None or lexists(self.pattern)

    def __str__(self) -> str:
        """Return the part as source text."""
        return f"{self.name and f'{self.name}='}{self.pattern}{self.types and f'?{self.types}'}"


def has_magic(pattern: str) -> bool:
    """Return whether the text has wildcards."""
    return _MAGIC.search(pattern) is not None


def split_parts(where: str, folder: Path = Path()) -> list[SourcePart]:
    """Return the parts of a text, at least one. An existing path relative to ``folder`` is one part.

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


def escape_magic(path: str) -> str:
    """Return the pattern that matches only this path."""
    return _MAGIC.sub(r"[\1]", path)


HIDDEN = "***"
URI_HINT: Final = (
    "mongodb://USER:PASSWORD@HOST:PORT/DATABASE; percent-encode : / ? # [ ] @ % in user and password"
)

_HOST = r"(?:[A-Za-z0-9._%-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?"
_SHOWABLE = re.compile(
    rf"(?P<scheme>mongodb(?:\+srv)?)://(?P<user>[^@/?#\s]*@)?(?P<hosts>{_HOST}(?:,{_HOST})*)"
    r"(?:/(?P<database>[^/?#@\s]*))?(?:\?[^@]*)?",
    re.IGNORECASE,
)
_SECRET_OPTIONS = re.compile(r"(?:password|passphrase|username|properties|token|secret)", re.IGNORECASE)


def redact(uri: str) -> str:
    """Return the URI without user, password and options: ``mongodb://host:27017/database``.

    If the URI is malformed, for example by an ``@`` in the password, return only the scheme, because any other part
    could be the secret.

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
    """Return whether a URI, well-formed or not, has a password or an option with a secret."""
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
        else:  # A short name may be a part of words, so it is replaced only as a whole word.
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
