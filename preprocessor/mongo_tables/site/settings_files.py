"""The settings in the YAML or TOML file of a site, including inherited ones."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mongo_tables.findings.usage import CommandError

if TYPE_CHECKING:
    import yaml


_MEND: Final = "correct it, or name another file with --config-file"
_INHERIT: Final = "INHERIT"


def toml_settings(file: Path) -> Mapping[str, Any]:
    """Return all settings of a TOML file. Raises CommandError with the place of a syntax error."""
    import tomllib

    try:
        return tomllib.loads(_read(file))
    except (ValueError, RecursionError) as error:
        # ValueError also for numbers with thousands of digits.
        raise CommandError(f"{file.name}: not TOML: {error}", _MEND) from None


def yaml_settings(file: Path, words: Iterable[str] = ("",)) -> Mapping[str, Any]:
    """Return the settings of a YAML file. A file without any of ``words`` is not parsed, and has none.

    Raises:
        CommandError: With the place of a syntax error.
    """
    text = _read(file)
    if not any(map(text.__contains__, (*words, _INHERIT))):
        return {}
    settings: Mapping[str, Any] = {}
    for inherited, _ in _follow(file, text):
        settings = _merge(inherited, settings) if settings else inherited
    return settings


def list_site_files(file: Path) -> list[Path]:
    """Return the file of a site, and the files that it inherits from, the nearest first.

    The list ends with the first file that cannot be read, because the next one is unknown.
    """
    found = [file]
    with suppress(CommandError):
        for _, above in _follow(file, _read(file)) if file.suffix != ".toml" else ():
            if above and "\0" not in str(above):  # No file name contains NUL.
                found.append(above)
    return found


def _follow(file: Path, text: str) -> Iterator[tuple[Mapping[str, Any], Path | None]]:
    """Yield the settings of a file and the file that its ``INHERIT`` names, then those of that file, and so on."""
    seen = [Path(os.path.normpath(file))]
    while True:
        settings = _parse(file, text)
        parent = settings.get(_INHERIT)
        above = Path(os.path.normpath(file.parent / parent)) if isinstance(parent, str) else None
        yield settings, above
        if above is None:
            return
        if above in seen:
            raise CommandError(
                f"{file.name}: `INHERIT` leads back to {parent}", "remove `INHERIT` from one of the files"
            )
        seen.append(above)
        file, text = above, _read(above)


def _parse(file: Path, text: str) -> Mapping[str, Any]:
    yaml, loader = _load_parser()
    try:
        settings = yaml.load(text, Loader=loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "it cannot be read"
        raise CommandError(f"{file.name}{place}: not YAML: {problem}", _MEND) from None
    except (ValueError, RecursionError) as error:  # For example, a date in month 13. The error has no place.
        raise CommandError(f"{file.name}: not YAML: {error}", _MEND) from None
    return settings if isinstance(settings, dict) else {}


def _merge(base: Mapping[str, Any], own: Mapping[str, Any]) -> Mapping[str, Any]:
    """Merge ``own`` over ``base`` as MkDocs does: mappings key by key, other values as a whole.

    https://www.mkdocs.org/user-guide/configuration/#configuration-inheritance
    """
    merged = dict(base)
    for key, value in own.items():
        known = merged.get(key)
        if isinstance(known, Mapping) and isinstance(value, Mapping):
            value = _merge(known, value)
        merged[key] = value
    return merged


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise CommandError(f"{file.name}: not UTF-8 (byte {error.start})", "save the file as UTF-8") from None
    except (OSError, ValueError) as error:  # A path with a NUL in it is a ValueError.
        reason = getattr(error, "strerror", None) or error
        raise CommandError(f"{file}: {reason}", "name the file of the site with --config-file") from None


def load_yaml(text: str) -> Any:
    """Return the value of a YAML document. ``!ENV`` reads the environment, unknown tags are ignored.

    Raises:
        YAMLError: If the text is not YAML.
    """
    yaml, loader = _load_parser()
    return yaml.load(text, Loader=loader)


@cache
def _load_parser() -> tuple[Any, Any]:
    """Return the module ``yaml`` and a safe loader, in C if available."""
    import yaml
    from yaml_env_tag import add_env_tag

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        pass

    def ignore(loader: Any, suffix: str, node: yaml.Node) -> None:
        """Ignore tags such as ``!!python/name:…``, which must not run."""

    add_env_tag(Loader)  # As in MkDocs. It takes precedence over the shorter tag "!" below.
    Loader.add_multi_constructor("!", ignore)
    Loader.add_multi_constructor("tag:yaml.org,2002:python/", ignore)
    return yaml, Loader
