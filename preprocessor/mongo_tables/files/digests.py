"""Digests of bytes for keys within this process; ``hashlib`` would load OpenSSL, 8 ms of each check."""

from __future__ import annotations

try:
    from _blake2 import blake2b
except ImportError:  # an interpreter built without it
    from hashlib import blake2b


def digest_of(*parts: str | bytes) -> str:
    """Return a digest of texts and bytes, as 32 hex digits; different parts give different digests."""
    total = blake2b(digest_size=16)
    for part in parts:
        content = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        total.update(b"%d\n" % len(content))
        total.update(content)
    return total.hexdigest()
