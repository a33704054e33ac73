"""Redaction of a URI's credentials in all output.

``redact`` keeps only parts that it recognises as harmless; ``scrub`` cleans text from the driver or the server. Source
of the URI's grammar: https://www.mongodb.com/docs/manual/reference/connection-string/
"""

from __future__ import annotations

import re
from urllib.parse import unquote, unquote_plus

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
