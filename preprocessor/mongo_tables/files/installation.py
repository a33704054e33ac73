"""How this program was installed, for hints that name an extra of it."""

from __future__ import annotations

import json


def install_command(extra: str) -> str:
    """Return the command that adds an extra to this installation.

    A program that did not come from an index is named by its origin, since anybody may own its name on an index. The
    installer recorded the origin (https://packaging.python.org/en/latest/specifications/direct-url/).
    """
    from importlib.metadata import PackageNotFoundError, distribution
    from urllib.parse import unquote

    try:
        origin = json.loads(distribution("mongo-tables").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        origin = {}
    url, vcs = origin.get("url", ""), origin.get("vcs_info", {})
    if url.startswith("file://"):
        named = f"{unquote(url.removeprefix('file://'))}[{extra}]"
    else:
        named = f"mongo-tables[{extra}]"
        named += f" @ {vcs['vcs']}+{url}@{vcs['commit_id']}" if vcs else f" @ {url}" if url else ""
    editable = "-e " if origin.get("dir_info", {}).get("editable") else ""
    return f"pip install {editable}'{named}'"
