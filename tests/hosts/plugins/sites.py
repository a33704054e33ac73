"""One small site for each plugin that authors use beside ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tests.hosts.plugins.smallsite import (
    SORTED,
    Edition,
    Seen,
    Site,
    data,
    figures,
    seen_figures,
    seen_text,
    text,
    value,
)

_HEAD: Final = "site_name: Small\nsite_url: https://example.org/\ntheme:\n  name: {theme}\n"
INDEX: Final = "index.html"
MATERIAL: Final = "material\n  font: false"


def config(plugins: str, more: str = "", theme: str = "mkdocs") -> str:
    """The file ``mkdocs.yml`` with lines of the list of plugins, which has our own where they say ``OURS``."""
    listed = plugins.replace("OURS", "mongo-tables")
    return f"{_HEAD.format(theme=theme)}plugins:\n{listed}\n{more}"


def _site(
    settings: str, files: dict[str, str], pages: dict[str, Seen], edition: Edition, **others: object
) -> Site:
    given = {"mkdocs.yml": settings, "fixtures/r/r.jsonl": data(edition), **files}
    return Site(given, pages, **others)  # type: ignore[arg-type]


def _plain(plugins: str, edition: Edition, theme: str = "mkdocs", **others: object) -> Site:
    """Two pages as authors write them; the second speaks of the first's table."""
    second = f"{text(edition, 'two')}\nAt home there are {value('one', 'x')}.\n"
    files = {"docs/index.md": text(edition, "one"), "docs/second.md": second}
    pages = {
        INDEX: seen_text(edition),
        "second/index.html": seen_text(edition) + Seen(values=[str(edition.x)]),
    }
    return _site(config(plugins, theme=theme), files, pages, edition, **others)


def search(edition: Edition) -> Site:
    found = [f"The {edition.word} has {edition.y} trains", f"We count {edition.x} here"]
    return _plain("  - search\n  - OURS", edition, others={"search/search_index.json": found})


def versions(edition: Edition) -> Site:
    """A site that mike publishes. It has the theme that every program has."""
    return _plain("  - search\n  - mike\n  - OURS", edition, theme=MATERIAL)


def macros(edition: Edition) -> Site:
    """Macros write the ids of tables, and a word of the heading."""
    page = text(Edition("{{ word }}", 0, 0), "t-{{ key }}")
    looped = "{% for key in ['one', 'two'] %}\n" + page + "\n{% endfor %}\n"
    more = f"extra:\n  word: {edition.word}\n"
    settings = config("  - search\n  - macros\n  - OURS", more)
    return _site(
        settings, {"docs/index.md": looped}, {INDEX: seen_text(edition) + seen_text(edition)}, edition
    )


def include_markdown(edition: Edition) -> Site:
    """One file in two pages, in the folder of pages but none of them."""
    settings = config("  - search\n  - include-markdown\n  - OURS", "exclude_docs: parts/\n")
    page = '# Included\n\n{%\n  include-markdown "./parts/part.md"\n%}\n\nOutside.\n'
    other = '{% include "./parts/part.md" %}' + f"\n\nAgain {value('one', 'x')}.\n"
    files = {"docs/index.md": page, "docs/other.md": other, "docs/parts/part.md": text(edition, "one")}
    again = seen_text(edition) + Seen(values=[str(edition.x)])
    return _site(settings, files, {INDEX: seen_text(edition), "other/index.html": again}, edition)


_GENERATES: Final = """
import mkdocs_gen_files
from pathlib import Path

with mkdocs_gen_files.open("made.md", "w") as file:
    file.write(Path("made.txt").read_text(encoding="utf-8"))
"""


def _generated(settings: str, edition: Edition, **files: str) -> Site:
    made = f"{text(edition, 'made')}\nAt home there are {value('one', 'x')}.\n"
    index = f"# Home\n\n{figures('one')}\nMade: {value('made', 'y', generated=True)}.\n"
    pages = {
        INDEX: seen_figures(edition) + Seen(values=[str(edition.y)]),
        "made/index.html": seen_text(edition) + Seen(values=[str(edition.x)]),
    }
    return _site(settings, {"docs/index.md": index, "made.txt": made, **files}, pages, edition)


def gen_files_before(edition: Edition) -> Site:
    plugins = "  - search\n  - gen-files:\n      scripts: [makes.py]\n  - OURS"
    return _generated(config(plugins), edition, **{"makes.py": _GENERATES})


def awesome_nav(edition: Edition) -> Site:
    nav = {"docs/.nav.yml": "nav:\n  - second.md\n  - index.md\n"}
    plain = _plain("  - search\n  - awesome-nav\n  - OURS", edition)
    return Site({**plain.files, **nav}, plain.pages)


def minify(edition: Edition) -> Site:
    options = "minify_html: true\n      htmlmin_opts:\n        remove_comments: true"
    return _plain(f"  - search\n  - minify:\n      {options}\n  - OURS", edition)


def llmstxt(edition: Edition) -> Site:
    options = """
  - llmstxt:
      full_output: llms-full.txt
      sections:
        All:
          - index.md
          - second.md"""
    prose = [f"The {edition.word} has {edition.y} trains", f"We count {edition.x} here"]
    row = f"| x | {edition.x} |"
    others = {
        "llms-full.txt": [*prose, row],
        "index.md": [*prose, row],
        "second/index.md": [*prose, row],
    }
    return _plain(f"  - search\n  - OURS{options}", edition, others=others)


def monorepo(edition: Edition) -> Site:
    """A site within the site: each speaks of the tables of the other."""
    nav = "nav:\n  - Home: index.md\n  - Inner: '!include ./inner/mkdocs.yml'\n"
    settings = config("  - search\n  - monorepo\n  - OURS", nav)
    index = f"{text(edition, 'one')}\nInside there are {value('two', 'x')}.\n"
    files = {
        "docs/index.md": index,
        "inner/mkdocs.yml": "site_name: inner\nnav:\n  - Start: start.md\n",
        "inner/docs/start.md": f"{text(edition, 'two')}\nOutside there are {value('one', 'x')}.\n",
    }
    both = seen_text(edition) + Seen(values=[str(edition.x)])
    pages = {INDEX: both, "inner/start/index.html": both}
    return _site(settings, files, pages, edition)


def _static_i18n(plugins: str, edition: Edition) -> Site:
    """Two languages, with other numbers for one table; a page that speaks of it is there in the first alone."""
    languages = """
  - i18n:
      docs_structure: suffix
      languages:
        - {locale: en, name: English, default: true, build: true}
        - {locale: de, name: Deutsch, build: true}
"""
    german = Edition(f"{edition.word} auch", edition.x + 1000, edition.y + 1000)
    ours = text(german, "one").replace(SORTED, f'{{"$set": {{"n": {{"$add": ["$n", 1000]}}}}}}, {SORTED}')
    files = {
        "docs/index.md": text(edition, "one"),
        "docs/index.de.md": ours,
        "docs/second.md": f"{text(edition, 'two')}\nAt home there are {value('one', 'x')}.\n",
    }
    pages = {
        INDEX: seen_text(edition),
        "de/index.html": seen_text(german),
        "second/index.html": seen_text(edition) + Seen(values=[str(edition.x)]),
        "de/second/index.html": seen_text(edition) + Seen(values=[str(german.x)]),
    }
    return _site(config(plugins.format(i18n=languages)), files, pages, edition)


def static_i18n_before(edition: Edition) -> Site:
    return _static_i18n("  - search{i18n}  - OURS", edition)


def static_i18n_after(edition: Edition) -> Site:
    return _static_i18n("  - search\n  - OURS{i18n}", edition)


def print_site(edition: Edition) -> Site:
    """All pages on one more page."""
    plain = _plain("  - search\n  - OURS\n  - print-site", edition)
    whole = plain.pages[INDEX] + plain.pages["second/index.html"]
    return Site(plain.files, {**plain.pages, "print_page/index.html": whole})


def gen_files_after(edition: Edition) -> Site:
    plugins = "  - search\n  - OURS\n  - gen-files:\n      scripts: [makes.py]"
    return _generated(config(plugins), edition, **{"makes.py": _GENERATES})


_HOOK: Final = """
from pathlib import Path
from mkdocs.structure.files import File


def on_files(files, config):
    made = Path("made.txt").read_text(encoding="utf-8")
    files.append(File.generated(config, "made.md", content=made))
    return files
"""


def hooks(edition: Edition) -> Site:
    return _generated(config("  - search\n  - OURS", "hooks: [hook.py]\n"), edition, **{"hook.py": _HOOK})


def _post(edition: Edition, name: str) -> str:
    front = "---\ndate: 2026-02-03\nslug: trains\ncategories: [Trains]\n---\n"
    return f"{front}\n{text(edition, name)}\n<!-- more -->\n\nBelow there are {value(name, 'x')}.\n"


def _blog(plugins: str, edition: Edition, **others: object) -> Site:
    """A post with figures above and below the place where its excerpt ends."""
    settings = config(plugins, theme=MATERIAL)
    files = {
        "docs/index.md": f"# Home\n\n{figures('one')}",
        "docs/blog/index.md": "# Blog\n",
        "docs/blog/posts/trains.md": _post(edition, "two"),
    }
    excerpt = seen_text(edition)
    lists = ("blog/index.html", "blog/archive/2026/index.html", "blog/category/trains/index.html")
    pages = {
        INDEX: seen_figures(edition),
        "blog/2026/02/03/trains/index.html": excerpt + Seen(values=[str(edition.x)]),
        **dict.fromkeys(lists, excerpt),
    }
    return _site(settings, files, pages, edition, **others)


def blog_before(edition: Edition) -> Site:
    return _blog("  - search\n  - blog\n  - OURS", edition)


def blog_after(edition: Edition) -> Site:
    return _blog("  - search\n  - OURS\n  - blog", edition)


def _with_feeds(plugins: str, edition: Edition) -> Site:
    """A blog with feeds, which hold the excerpts of posts."""
    prose = [f"The {edition.word} has {edition.y} trains", f"We count {edition.x} here."]
    others = {f"feed_{kind}_created.{end}": prose for kind, end in (("rss", "xml"), ("json", "json"))}
    return _blog(plugins, edition, others=others)


_RSS: Final = """  - rss:
      use_git: false
      match_path: "blog/posts/.*"
      date_from_meta: {as_creation: date, as_update: date}"""


def rss_before(edition: Edition) -> Site:
    return _with_feeds(f"  - search\n  - blog\n{_RSS}\n  - OURS", edition)


def rss_after(edition: Edition) -> Site:
    return _with_feeds(f"  - search\n  - OURS\n  - blog\n{_RSS}", edition)


def _snippets(extensions: str, edition: Edition) -> Site:
    """One file in two pages, one of which comes before it and speaks of its table."""
    more = f"markdown_extensions:\n  - pymdownx.snippets\n{extensions}"
    page = '# Included\n\n--8<-- "parts/part.md"\n\n;--8<-- "not/this"\n'
    other = '--8<-- "parts/part.md"' + f"\n\nAgain {value('one', 'x')}.\n"
    files = {"docs/index.md": page, "docs/other.md": other, "parts/part.md": text(edition, "one")}
    again = seen_text(edition) + Seen(values=[str(edition.x)])
    return _site(
        config("  - search\n  - OURS", more),
        files,
        {INDEX: seen_text(edition), "other/index.html": again},
        edition,
    )


def snippets(edition: Edition) -> Site:
    return _snippets("", edition)


def snippets_with_extension(edition: Edition) -> Site:
    return _snippets("  - mongo-tables\n", edition)


def markdown_exec(edition: Edition) -> Site:
    """Code that writes Markdown with comments in it, while a page is converted."""
    more = "markdown_extensions:\n  - pymdownx.superfences\n  - mongo-tables\n"
    page = f'# Written\n\n```python exec="on"\nprint({figures("one")!r})\n```\n'
    settings = config("  - search\n  - markdown-exec\n  - OURS", more)
    return _site(settings, {"docs/index.md": page}, {INDEX: seen_figures(edition)}, edition)


SITES: Final[dict[str, Callable[[Edition], Site]]] = {
    "search": search,
    "macros": macros,
    "include-markdown": include_markdown,
    "gen-files before": gen_files_before,
    "awesome-nav": awesome_nav,
    "minify": minify,
    "llmstxt": llmstxt,
    "monorepo": monorepo,
    "static-i18n before": static_i18n_before,
    "static-i18n after": static_i18n_after,
    "print-site": print_site,
    "gen-files after": gen_files_after,
    "hooks": hooks,
    "blog before": blog_before,
    "blog after": blog_after,
    "rss before": rss_before,
    "rss after": rss_after,
    "snippets": snippets,
    "markdown-exec and the extension": markdown_exec,
    "snippets and the extension": snippets_with_extension,
}


UNDER_ZENSICAL: Final = ("macros", "include-markdown", "snippets", "awesome-nav", "minify", "blog before")
"""Sites with plugins that Zensical has equals of. It makes no search index and no text as MkDocs's plugins do."""


def for_zensical(site: Site) -> Site:
    """The site with our extension in the place of our plugin, which Zensical does not know."""
    settings = site.files["mkdocs.yml"].replace("name: mkdocs", f"name: {MATERIAL}")
    settings = settings.replace("  - mongo-tables\n", "", 1)
    listed = "markdown_extensions:\n"
    head, _, tail = settings.partition(listed)
    settings = f"{head}{listed}  - mongo-tables\n{tail}"
    return Site({**site.files, "mkdocs.yml": settings}, site.pages)
