"""What must not be in a built site ends the build; what authors have switched off stays off."""

from __future__ import annotations

import json
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest

from tests.hosts.inprocess import CONFIG, ROWS, built, html, seen, table, value, write
from tests.hosts.plugins.smallsite import read, with_tokens

PLUGINS = "plugins: [mongo-tables]\n"
EARLY = """
import json
import re
from html import escape
from pathlib import Path
from mkdocs.plugins import event_priority

taken = []

@event_priority(50)
def on_page_content(html, *, page, config, files):
    taken.append(html)

def on_post_build(config):
    Path(config.site_dir, "NAME").write_text(WRITTEN)
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    page = f"# Home\n\n{table('one')}\n"
    return write(
        tmp_path, {"mkdocs.yml": f"{CONFIG}{PLUGINS}", "docs/index.md": page, "fixtures/r/r.jsonl": ROWS}
    )


LATE = """
COMMENT = {comment!r}

def on_page_content(html, **_):
    return html + "<p>Late: " + COMMENT + "</p>" if {place!r} == "content" else html

def on_post_page(output, **_):
    return output.replace("</body>", COMMENT + "</body>") if {place!r} == "page" else output
"""


@pytest.mark.parametrize("place", ["content", "page", "copied", "theme"])
def test_a_comment_that_comes_in_when_nobody_reads_comments_any_more_ends_the_build(
    place: str, site: Path
) -> None:
    comment = value("one")
    files = {
        "mkdocs.yml": f"{CONFIG}{PLUGINS}hooks: [hook.py]\n",
        "hook.py": LATE.format(comment=comment, place=place),
    }
    if place == "copied":
        files["docs/raw.html"] = f"<p>We do {comment} a second.</p>"
    if place == "theme":
        files["theme/main.html"] = f"<html><body>{{{{ page.content }}}} {comment}</body></html>"
        files["mkdocs.yml"] = f"{CONFIG}{PLUGINS}theme: {{name: null, custom_dir: theme}}\n"
    write(site, files)
    outcome = built(site)
    assert not outcome.done
    assert [rule for line in outcome.errors for rule in ("MT119", "MT170") if rule in line]


def test_a_comment_in_a_script_or_one_that_is_switched_off_is_text(site: Path) -> None:
    off = f"<!-- off for now\n{table('two')}\n"
    write(site, {"docs/raw.html": f"<script>const text = `{table('three')}`</script>", "docs/off.md": off})
    assert built(site).done


def _no_change(text: str) -> str:
    return text


ROWS_SHOWN = [["Kind", "Trains"], ["x", "3"], ["y", "5"]]


@pytest.mark.parametrize(
    ("name", "written", "read_back"),
    [
        ("copy.html", "taken[-1]", _no_change),
        ("feed.xml", "escape(taken[-1])", unescape),
        ("twice.xml", "escape(escape(taken[-1]))", lambda text: unescape(unescape(text))),
        ("references.xml", "escape(taken[-1]).encode('ascii', 'xmlcharrefreplace').decode()", unescape),
        ("pages.json", "json.dumps(taken[-1:])", lambda text: json.loads(text)[0]),
        ("raw.json", "json.dumps(taken[-1:], ensure_ascii=False)", lambda text: json.loads(text)[0]),
        ("index.js", "'var pages = ' + json.dumps(taken[-1:])", lambda text: json.loads(text[12:])[0]),
    ],
)
def test_a_file_of_another_plugin_has_the_figures_in_its_notation(
    name: str, written: str, read_back: Callable[[str], str], site: Path
) -> None:
    hook = EARLY.replace("NAME", name).replace("WRITTEN", written)
    write(site, {"mkdocs.yml": f"{CONFIG}{PLUGINS}hooks: [hook.py]\n", "hook.py": hook})
    outcome = built(site)
    assert outcome.done, outcome.log
    text = read_back(html(site, name))
    assert read(text).tables == [ROWS_SHOWN]
    assert ("How it was made" in text) == name.endswith(".html")
    assert with_tokens(site / "site") == []


@pytest.mark.parametrize(
    ("name", "written", "shown"),
    [
        ("all.txt", "taken[-1]", "\n| x    |      3 |\n| y    |      5 |"),
        (
            "notes.md",
            "taken[-1].replace('<div>', '> ').replace('</div>', '')",
            "\n> | x    |      3 |\n> | y    |      5 |",
        ),
        ("words.json", "json.dumps(re.sub('<[^>]*>', '', taken[-1]))", "Kind Trains x 3 y 5"),
    ],
)
def test_a_file_of_another_plugin_without_html_has_the_figures_as_text(
    name: str, written: str, shown: str, site: Path
) -> None:
    hook = EARLY.replace("NAME", name).replace("WRITTEN", written)
    write(site, {"mkdocs.yml": f"{CONFIG}{PLUGINS}hooks: [hook.py]\n", "hook.py": hook})
    outcome = built(site)
    assert outcome.done, outcome.log
    assert shown in html(site, name)
    assert with_tokens(site / "site") == []


@pytest.mark.parametrize("cut", range(-66, 0, 2))
def test_nothing_of_a_token_is_left_where_a_plugin_cuts_a_text(cut: int, site: Path) -> None:
    hook = EARLY.replace("NAME", "all.txt").replace("WRITTEN", f"taken[-1].strip()[:{cut}]")
    write(site, {"mkdocs.yml": f"{CONFIG}{PLUGINS}hooks: [hook.py]\n", "hook.py": hook})
    outcome = built(site)
    assert outcome.done, outcome.log
    assert with_tokens(site / "site") == []


BINARY = b"\xff\xc2\x81\xc2\x8f\xc2\x8d\xfe"


@pytest.mark.parametrize("content", [BINARY, b"\0" + BINARY])
def test_a_file_that_is_no_text_stays_as_a_plugin_wrote_it(content: bytes, site: Path) -> None:
    hook = f"""from pathlib import Path

def on_post_build(config):
    Path(config.site_dir, "all.br").write_bytes({content!r})
"""
    write(site, {"mkdocs.yml": f"{CONFIG}{PLUGINS}hooks: [hook.py]\n", "hook.py": hook})
    assert built(site).done
    assert (site / "site" / "all.br").read_bytes() == content


def test_a_text_that_a_plugin_cuts_in_the_middle_of_a_character_has_the_figures(site: Path) -> None:
    hook = EARLY.replace("NAME", "all.txt").replace(
        ".write_text(WRITTEN)", ".write_bytes(taken[-1].encode() + b'\\xe2')"
    )
    write(site, {"mkdocs.yml": f"{CONFIG}{PLUGINS}hooks: [hook.py]\n", "hook.py": hook})
    outcome = built(site)
    assert outcome.done, outcome.log
    written = (site / "site" / "all.txt").read_bytes()
    assert b"| x    |      3 |" in written and written.endswith(b"\xe2") and b"\xc2\x81" not in written


def test_a_token_in_a_notation_that_is_not_known_ends_the_build_and_its_file_is_named(site: Path) -> None:
    written = "__import__('urllib.parse').parse.quote(taken[-1])"
    hook = EARLY.replace("NAME", "all.txt").replace("WRITTEN", written)
    write(site, {"mkdocs.yml": f"{CONFIG}{PLUGINS}hooks: [hook.py]\n", "hook.py": hook})
    outcome = built(site)
    assert not outcome.done
    assert [line.split(" ")[:2] for line in outcome.errors if "MT" in line] == [["site/all.txt:", "MT170"]]


@pytest.mark.parametrize(
    "page",
    [
        f"<!-- off for now\n{table('off')}\n-->",
        f"<pre>\n{table('off')}\n</pre>",
        f"<script>\n{table('off')}\n</script>",
        f"Words <textarea>{table('off')}</textarea> on.",
        f"> <pre>\n> {table('off')}\n> </pre>",
    ],
    ids=["comment", "pre", "script", "textarea", "quote"],
)
def test_a_table_that_is_switched_off_stays_off(page: str, site: Path) -> None:
    write(site, {"docs/index.md": f"# Home\n\n{table('one')}\n\n{page}\n"})
    outcome = built(site)
    assert outcome.done, outcome.log
    assert not any("MT119" in line for line in outcome.errors)
    assert len(seen(site, "index.html").tables) == 1


def test_a_comment_that_came_in_from_elsewhere_is_not_taken_for_one_that_is_switched_off(site: Path) -> None:
    hook = """
from pathlib import Path
from mkdocs.plugins import event_priority

@event_priority(50)
def on_page_content(html, **_):
    return html + Path("part.md").read_text(encoding="utf-8")
"""
    page = f"# Home\n\n<pre>\n{table('off')}\n</pre>\n\n```\n{table('shown')}\n```\n"
    settings = f"{CONFIG}{PLUGINS}hooks: [hook.py]\nmarkdown_extensions: [pymdownx.superfences]\n"
    hook = hook.replace('Path("part.md")', f"Path({str(site / 'part.md')!r})")
    write(site, {"mkdocs.yml": settings, "docs/index.md": page, "hook.py": hook})
    for name in ("off", "shown"):
        write(site, {"part.md": f"{table(name)}\n"})
        outcome = built(site)
        assert not outcome.done
        assert sum("MT119" in line for line in outcome.errors) == 1


@pytest.mark.parametrize("beside", [False, True])
@pytest.mark.parametrize("place", ["content", "page", "copied"])
def test_what_is_switched_off_in_html_of_others_is_text_and_the_same_table_beside_it_ends_the_build(
    place: str, beside: bool, site: Path
) -> None:
    two = table("two")
    comment = f"<!-- off for now\n{two}\n--><PRE>\n{two}\n</PRE>{two * beside}"
    write(
        site,
        {
            "mkdocs.yml": f"{CONFIG}{PLUGINS}hooks: [hook.py]\n",
            "hook.py": LATE.format(comment=comment, place=place),
            "docs/raw.html": f"<p>Words.</p>{comment * (place == 'copied')}",
        },
    )
    outcome = built(site)
    assert outcome.done is not beside, outcome.log
    assert sum("MT119" in line or "MT170" in line for line in outcome.errors) == beside


def test_a_comment_behind_an_element_that_never_ends_is_told(site: Path) -> None:
    write(site, {"docs/raw.html": f"<pre><pre><p>{table('two')}"})
    assert not built(site).done


def test_a_page_from_which_a_hook_cuts_its_first_table_has_the_others(site: Path) -> None:
    hook = """
from mkdocs.plugins import event_priority

@event_priority(50)
def on_page_markdown(markdown, **_):
    return markdown[markdown.index("## Second"):]
"""
    page = f"# Home\n\n{table('one')}\n\n## Second\n\n{table('two', least=4)}\n"
    write(
        site, {"mkdocs.yml": f"{CONFIG}{PLUGINS}hooks: [hook.py]\n", "hook.py": hook, "docs/index.md": page}
    )
    outcome = built(site)
    assert outcome.done, outcome.log
    assert seen(site, "index.html").tables == [[["Kind", "Trains"], ["y", "5"]]]
    assert "Home</h1>" not in html(site, "index.html")


@pytest.mark.parametrize(
    "text",
    ["*[HTM]: it has VALUE trains\n\nHTM here."],
    ids=["abbreviation"],
)
def test_a_figure_without_a_place_is_told_with_the_places_that_can_have_none(text: str, site: Path) -> None:
    page = f"# Home\n\n{table('one')}\n\n{text.replace('VALUE', value('one'))}\n"
    write(site, {"docs/index.md": page, "mkdocs.yml": f"{CONFIG}{PLUGINS}markdown_extensions: [abbr]\n"})
    outcome = built(site)
    assert not outcome.done
    (line,) = (line for line in outcome.errors if "MT118" in line)
    assert "abbreviation" in line
    assert "in the title of a link" in line
