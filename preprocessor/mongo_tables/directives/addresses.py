"""Validation of link addresses (``http``, ``https``, ``mailto`` and relative ones), and links made from row fields.

Addresses come from databases. If a browser would execute an address, or if an address hides its target, it stays plain
text. Browsers drop tabs and line ends, treat a backslash as a slash, and read the text before a colon as a scheme
(https://url.spec.whatwg.org/#url-parsing). So these characters are rejected, and so are colons outside of the allowed
schemes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final
from urllib.parse import quote, urlsplit

_LONGEST: Final = 2000
# RFC 3986: reserved and unreserved characters, and the sign of percent-encoding.
_KEPT: Final = "/:?#@!$&'()*+,;=-._~%[]"
_SCHEME: Final = r"(?i)[a-z][a-z0-9+.-]*:"
_HOST: Final = r"(?i)(?:[^\W_]|[-._])+(?::\d{1,5})?|\[[0-9a-f:.]+\](?::\d{1,5})?"
_MAIL: Final = r"[^\s@:/?#&<>\"]+@[^\s@:/?#&<>\"]+(?:\?.*)?"
_UNSAFE: Final = "[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\\\\]"
_BARE_PERCENT: Final = "(?i)%(?![0-9a-f]{2})"
_WHOLE_HOST: Final = r"https?://[^/?#]+[/?#]"
_FIELD: Final = r"\{([^{}]*)\}"


def safe_address(text: str) -> str:
    """Return the address in a form that is safe in HTML and Markdown, or "" if it must not become a link.

    Blanks and non-ASCII characters are percent-encoded. Other schemes, a host without a scheme (``//host``), a user
    name or a password before the host, control characters and backslashes are rejected.

    Example:
        >>> safe_address("https://example.com/a b")
        'https://example.com/a%20b'
        >>> safe_address("javascript:alert(1)")
        ''
    """
    text = text.strip(" ")
    if not text or len(text) > _LONGEST or re.search(_UNSAFE, text) or not _leads_somewhere(text):
        return ""
    return quote(re.sub(_BARE_PERCENT, "%25", text), safe=_KEPT)


def _leads_somewhere(text: str) -> bool:
    found = re.match(_SCHEME, text)
    if found is None:
        # An ``&`` may begin a character reference, which a browser could decode to a scheme.
        first = re.split("[/?#]", text, maxsplit=1)[0]
        return not text.startswith("//") and ":" not in first and "&" not in first
    if found[0].lower() == "mailto:":
        return re.fullmatch(_MAIL, text[found.end() :]) is not None
    if found[0].lower() not in ("http:", "https:"):
        return False
    try:
        return bool(re.fullmatch(_HOST, urlsplit(text).netloc)) and text.startswith("//", found.end())
    except ValueError:  # for example, unbalanced brackets
        return False


def fields_of(template: str) -> list[str]:
    """Return the names of the fields in braces, in order.

    Example:
        >>> fields_of("/runs/{id}#{n}")
        ['id', 'n']
    """
    return re.findall(_FIELD, template)


def template_fault(template: str) -> str:
    """Return the fault of an address template as the end of a sentence, or "" if it has none."""
    fields, rest = fields_of(template), re.sub(_FIELD, "", template)
    if not fields:
        return "names no field: each row would lead to the same place"
    if "{" in rest or "}" in rest or not all(fields):
        return "has a brace that does not belong to a field"
    if template.startswith("{"):
        return ""
    head = template[: template.index("{")].lower()
    mail = head.startswith("mailto:")
    if re.match(_SCHEME, head) and not mail and not re.match(_WHOLE_HOST, head):
        return "has a field in its scheme or its host, or a scheme that is not allowed in links"
    return "" if safe_address(re.sub(_FIELD, "x@x" if mail else "x", template)) else "becomes no link"


def is_picture(address: str) -> bool:
    """Return whether an address or an address template leads to a badge or an image file."""
    path = re.split("[?#]", address, maxsplit=1)[0].lower()
    return "/badge/" in path or path.endswith((".svg", ".png", ".gif", ".jpg", ".jpeg", ".webp"))


def fill_template(template: str, text_of: Callable[[str], str]) -> str:
    """Return the address with a text in place of each field, or "" if a text is empty or the address is unsafe.

    The text of a field at the beginning of the template is unchanged. In later texts, all special characters except the
    slash are encoded, so they cannot change the host.

    Example:
        >>> fill_template("/runs/{id}", {"id": "a b"}.__getitem__)
        '/runs/a%20b'
    """
    texts = {field: text_of(field) for field in fields_of(template)}
    if not all(texts.values()):
        return ""

    def put(found: re.Match[str]) -> str:
        text = texts[found[1]]
        if "/badge/" in template[: found.start()]:
            # https://shields.io/badges: a hyphen separates the parts of a badge, an underscore is a blank.
            return quote(text.replace("-", "--").replace("_", "__"), safe="", errors="replace")
        return quote(text, safe="/@", errors="replace") if found.start() else text

    return safe_address(re.sub(_FIELD, put, template))
