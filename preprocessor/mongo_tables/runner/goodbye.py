"""Closing the client of a server that may be gone."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pymongo import MongoClient


def close_beside(client: MongoClient[dict[str, Any]]) -> None:
    """Close a client, and do not wait for it.

    It says goodbye to the sessions that it had, and looks half a minute for a server that is gone.
    """
    threading.Thread(target=client.close, daemon=True).start()
