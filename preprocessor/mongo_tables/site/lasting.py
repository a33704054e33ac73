"""Whether figures stay what they are while their results do: nothing in them asks for the time or draws at random."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from mongo_tables.directives.specs import Spec

_FICKLE: Final = ("$$NOW", "$$CLUSTER_TIME", "$rand", "$sample")
"""What gives other rows at another time or at every call."""


def is_lasting(spec: Spec) -> bool:
    """Whether the same results give the same figure tomorrow."""
    asked = str([getattr(spec, name, None) for name in ("pipeline", "let", "where", "expect")])
    return not any(word in asked for word in _FICKLE)
