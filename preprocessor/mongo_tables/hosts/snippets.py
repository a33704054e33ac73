"""Files that other plugins include in a page: their comments, and includes that only the conversion resolves.

``pymdownx.snippets`` includes files while a page is converted, but tokens must be in their places before
that. So snippets with comments of ours are included earlier, by the same extension.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mongo_tables.site.includes import read_with_comments

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import File


_SNIPPETS: Final = "pymdownx.snippets"
_ESCAPED: Final = re.compile(
    r"""^([ \t]*)(-+8<-+(?:[ \t]+["']|[ \t]*$))|(?<![-;])(-+8<-+[ \t]+\[[ \t]*(?:start|end)[ \t]*:)""",
    re.MULTILINE,
)

_BY_CONVERSION: Final = re.compile(r"""^[ \t]*(?:(?:`{3,}|~{3,}).*\bexec\b|-+8<-)""", re.MULTILINE)


def where_taken_in(text: str) -> tuple[int, int]:
    """Return line and column of the first include that the conversion resolves, or zeros without one."""
    match = _BY_CONVERSION.search(text)
    return (text.count("\n", 0, match.start()) + 1, 1) if match else (0, 0)


def read_taken_in(file: File, text: str, config: MkDocsConfig) -> list[tuple[Path, str]]:
    """Read the files that a page includes and that may have our comments: paths and texts."""
    page = Path(file.abs_src_path or Path(config.docs_dir, file.src_uri))
    root = Path(config.config_file_path).parent if config.config_file_path else Path.cwd()
    bases = _options(config).get("base_path", ["."])
    # Besides the folder of the page, plugins look for files in these.
    named = map(Path, [bases] if isinstance(bases, str) else bases)
    return read_with_comments(page, text, [*named, Path(config.docs_dir), root, Path.cwd()])


def with_snippets(markdown: str, file: File, config: MkDocsConfig) -> str:
    """Return a page with its snippets included if these contain our comments, else unchanged."""
    if _SNIPPETS not in config.markdown_extensions:
        return markdown
    if not read_taken_in(file, markdown, config):
        return markdown
    from markdown import Markdown
    from pymdownx.snippets import SnippetMissingError

    # Text that is appended to each page is left to the conversion, which would append it a second time.
    options = {**_options(config), "auto_append": []}
    snippets = Markdown(extensions=[_SNIPPETS], extension_configs={_SNIPPETS: options}).preprocessors[
        "snippet"
    ]
    try:
        text = "\n".join(snippets.run(markdown.split("\n")))
    except (SnippetMissingError, OSError, ValueError):
        return markdown  # The conversion reports the error.
    # Escaped markers are bare now; escape them again for the conversion.
    return _ESCAPED.sub(lambda match: f"{match[1] or ''};{match[2] or match[3]}", text)


def _options(config: MkDocsConfig) -> dict[str, Any]:
    options = config.mdx_configs.get(_SNIPPETS)
    return dict(options) if options else {}
