"""The changes of series as an Atom feed (RFC 4287), the latest first, from the documents that pages show as well."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final
from xml.etree import ElementTree

_ATOM: Final = "http://www.w3.org/2005/Atom"
_NOTHING_YET: Final = datetime(1970, 1, 1, tzinfo=UTC)

Document = Mapping[str, Any]


def format_feed(documents: Iterable[Document], name: str, page: str) -> str:
    """The feed with an entry for each change; ``name`` is its own, an address or a URN, ``page`` shows the changes.

    Two calls give the same text: times are those of campaigns, names of entries are made of row and campaign.
    """
    ElementTree.register_namespace("", _ATOM)
    root = ElementTree.Element(f"{{{_ATOM}}}feed")
    changes = sorted((one for one in documents if one["change"]), key=_place, reverse=True)
    _add(root, "title", "Changes of speed")
    _add(root, "id", name)
    _add(root, "updated", _say_time(max((one["start"] for one in changes), default=_NOTHING_YET)))
    ElementTree.SubElement(root, f"{{{_ATOM}}}link", {"href": page})
    author = ElementTree.SubElement(root, f"{{{_ATOM}}}author")
    _add(author, "name", "mongo-tables history")
    root.extend(_list_entries(changes, name, page))
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def _place(document: Document) -> tuple[datetime, str, str]:
    return document["start"], document["_id"]["row"], document["_id"]["of"]


def _list_entries(changes: Sequence[Document], name: str, page: str) -> Iterator[ElementTree.Element]:
    for one in changes:
        entry = ElementTree.Element(f"{{{_ATOM}}}entry")
        row, campaign, of = (one["_id"][part] for part in ("row", "campaign", "of"))
        apart = "" if of == "speed" else f"\n{of}"
        key = sha256(f"{row}\n{campaign}{apart}".encode()).hexdigest()[:16]
        what = "" if of == "speed" else ", to the reference of its experiment"
        _add(entry, "title", f"{row}: {one['change']['text']}{what}")
        _add(entry, "id", f"{name}#{key}")
        _add(entry, "updated", _say_time(one["start"]))
        ElementTree.SubElement(entry, f"{{{_ATOM}}}link", {"href": page})
        _add(entry, "summary", f"From campaign {campaign} on. {_say_why(one['change'])}")
        yield entry


def _say_why(change: Mapping[str, Any]) -> str:
    return " ".join(filter(None, (change["reason"], change["ticket"]))) or "Not known why."


def _add(parent: ElementTree.Element, name: str, text: str) -> None:
    ElementTree.SubElement(parent, f"{{{_ATOM}}}{name}").text = _without_controls(text)


def _without_controls(text: str) -> str:
    """The text without characters that XML has no place for."""
    return "".join(
        one for one in text if one in "\t\n" or " " <= one < "\ud800" or "\ue000" <= one < "\ufffe"
    )


def _say_time(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
