"""Files that a page includes: the comments in them, and includes that are only resolved during the conversion.

``pymdownx.snippets`` includes files during the conversion of a page, but tokens must replace comments before that. So
the plugin runs this extension earlier if snippets contain comments of ours.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from markdown import Markdown

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
    """Return the line and the column of the first include that the conversion resolves, or zeros if there is none."""
    match = _BY_CONVERSION.search(text)
    return (text.count("\n", 0, match.start()) + 1, 1) if match else (0, 0)


def read_taken_in(file: File, text: str, config: MkDocsConfig) -> list[tuple[Path, str]]:
    """Return the paths and texts of the files that a page includes and that may contain comments of ours."""
    page = Path(file.abs_src_path or Path(config.docs_dir, file.src_uri))
    root = Path(config.config_file_path).parent if config.config_file_path else Path.cwd()
    bases = _options(config).get("base_path", ["."])
    # Plugins search for included files in these folders, too.
    named = map(Path, [bases] if isinstance(bases, str) else bases)
    return read_with_comments(page, text, [*named, Path(config.docs_dir), root, Path.cwd()])


def with_snippets(markdown: str, file: File, config: MkDocsConfig) -> str:
    """Return a page with its snippets included if they contain comments of ours, else unchanged."""
    if _SNIPPETS not in config.markdown_extensions:
        return markdown
    if not read_taken_in(file, markdown, config):
        return markdown
    from pymdownx.snippets import SnippetMissingError

    # The conversion appends text to each page, and must not do so twice.
    options = {**_options(config), "auto_append": []}
    snippets = Markdown(extensions=[_SNIPPETS], extension_configs={_SNIPPETS: options}).preprocessors[
        "snippet"
    ]
    try:
        text = "\n".join(snippets.run(markdown.split("\n")))
    except (SnippetMissingError, OSError, ValueError):
        return markdown  # The conversion reports the error.
    # Snippets has removed the escapes of markers, which the conversion still needs.
    return _ESCAPED.sub(lambda match: f"{match[1] or ''};{match[2] or match[3]}", text)


def _options(config: MkDocsConfig) -> dict[str, Any]:
    options = config.mdx_configs.get(_SNIPPETS)
    return dict(options) if options else {}
