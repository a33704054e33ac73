"""Who asks Atlas: a service account, or a key of its Administration API; both come from the environment alone."""

from __future__ import annotations

from dataclasses import dataclass, field

from mongo_tables.files.environment import ATLAS_CLIENT, ATLAS_KEY, read_variable
from mongo_tables.results.secrets import HIDDEN
from mongo_tables.runner.errors import RunnerError


@dataclass(frozen=True, slots=True)
class Credentials:
    """A name and its secret; ``digest`` is whether they are a key, used as RFC 7616 says, else a service account."""

    name: str = field(repr=False)
    secret: str = field(repr=False)
    digest: bool

    def scrub(self, text: str, *others: str) -> str:
        """The text without these secrets, wherever it comes from."""
        for secret in filter(None, (self.secret, *others)):
            text = text.replace(secret, HIDDEN)
        return text


def read_credentials() -> Credentials:
    """What the environment has, a service account before a key.

    Raises RunnerError where it has neither, or half of one.
    """
    for (name, secret), digest in ((ATLAS_CLIENT, False), (ATLAS_KEY, True)):
        found = read_variable(name), read_variable(secret)
        if all(found):
            return Credentials(*found, digest)
        if any(found):
            raise RunnerError(f"of {name} and {secret} one is not set", "Atlas asks for both")
    raise RunnerError(
        "nothing says who asks Atlas",
        f"set {' and '.join(ATLAS_CLIENT)} of a service account with the role Project Owner, or "
        f"{' and '.join(ATLAS_KEY)}",
    )
