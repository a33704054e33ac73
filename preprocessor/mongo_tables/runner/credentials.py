"""The password of a local set: without it every user of the machine could connect while a run lasts.

The members know each other by a key file (https://www.mongodb.com/docs/manual/core/security-internal-authentication/),
which only the user who runs them can read, and nobody gets in without having signed in, the first user included. The
run signs in by the key itself, as members do, and makes the user that all its connections have.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pymongo import MongoClient

USER: Final = "mongo-tables"
_MECHANISM: Final = "SCRAM-SHA-256"
_FILE: Final = "key"
_KEY_BYTES: Final = 48  # A key has 6 to 1,024 characters.
KNOWN_WITHIN_MS = 60_000
"""Until every member knows of a user."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """The secrets of one set, new for each: the key of its members, the password of its user."""

    key: str = field(default_factory=lambda: secrets.token_hex(_KEY_BYTES), repr=False)
    password: str = field(default_factory=lambda: secrets.token_urlsafe(_KEY_BYTES), repr=False)

    def options(self, directory: Path) -> list[str]:
        """Write the key into the directory; give what a member is started with: no secret, only where it is."""
        file = directory / _FILE
        file.touch(mode=0o600)
        file.write_text(self.key, encoding="ascii")
        # Else the first who comes from this machine may make the first user.
        return ["--keyFile", str(file), "--setParameter", "enableLocalhostAuthBypass=false"]

    @property
    def of_members(self) -> Mapping[str, Any]:
        """What a client signs in with where there is no user yet."""
        return {
            "username": "__system",
            "password": self.key,
            "authSource": "local",
            "authMechanism": _MECHANISM,
        }

    @property
    def of_user(self) -> Mapping[str, Any]:
        """What a client signs in with as the user."""
        return {
            "username": USER,
            "password": self.password,
            "authSource": "admin",
            "authMechanism": _MECHANISM,
        }

    @property
    def in_uri(self) -> str:
        """The user and the password as they stand in a connection string."""
        return f"{USER}:{self.password}"

    def make_user(self, client: MongoClient[dict[str, Any]], members: int) -> None:
        """Make the user; ``client`` is the primary's. Every member knows it then.

        Raises PyMongoError where one does not hear of it in time, such as one that has ended.
        """
        client.admin.command(
            "createUser", USER, pwd=self.password, roles=["root"], mechanisms=[_MECHANISM],
            writeConcern={"w": members, "wtimeout": KNOWN_WITHIN_MS},
        )  # fmt: skip
