"""Whether a deployment is plainly not there, known before the driver has tried for all of its time.

The driver asks a refusing host again and again until its selection time is over, because a server may just be
starting. Rows for a page are wanted now.
"""

from __future__ import annotations

import socket


def none_there(uri: str, seconds: float) -> OSError | None:
    """The refusal when every host that the URI lists refuses connections or has no address; None otherwise.

    None also where that cannot be told: SRV names, sockets in the file system, proxies, a host that does not
    answer within ``seconds``. Each host is only connected to, nothing is sent; the first that does not refuse
    ends the search.
    """
    refusal: OSError | None = None
    for host, port in _hosts(uri):
        refusal = _refusal(host, port, seconds)
        if refusal is None:
            return None
    return refusal


def _hosts(uri: str) -> list[tuple[str, int]]:
    """Hosts and ports of a plain ``mongodb://`` URI; none for what this module does not judge."""
    from pymongo.errors import PyMongoError
    from pymongo.uri_parser import parse_uri

    if not uri.lower().startswith("mongodb://") or "proxyhost" in uri.lower():
        return []
    try:
        found = parse_uri(uri, validate=False, warn=False)["nodelist"]
    except (PyMongoError, ValueError):
        return []  # the driver itself says what is wrong with it
    return [] if any(port is None for _, port in found) else [(host, int(port or 0)) for host, port in found]


def _refusal(host: str, port: int, seconds: float) -> OSError | None:
    try:
        socket.create_connection((host, port), seconds).close()
    except (ConnectionRefusedError, socket.gaierror) as error:
        # A name server that is out of reach for a moment says nothing of the host.
        return None if isinstance(error, socket.gaierror) and error.errno == socket.EAI_AGAIN else error
    except OSError:
        return None
    return None
