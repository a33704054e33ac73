"""YAML as the files of MkDocs sites have it: unknown tags mean nothing, ``!ENV`` takes a value from the environment."""

from __future__ import annotations

from typing import Any

import yaml
from yaml import YAMLError
from yaml_env_tag import add_env_tag

__all__ = ["YAMLError", "load"]


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """The safe loader, in C where there is one."""


def _ignore(loader: _Loader, suffix: str, node: yaml.Node) -> None:
    """Such as ``!!python/name:…``: never run here."""


add_env_tag(_Loader)  # As MkDocs does; what is more exact comes before "!" below.
_Loader.add_multi_constructor("!", _ignore)
_Loader.add_multi_constructor("tag:yaml.org,2002:python/", _ignore)


def load(text: str) -> Any:
    """The value of a document. Raises YAMLError where it is none."""
    return yaml.load(text, Loader=_Loader)
