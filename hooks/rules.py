"""A page for every rule of the linter, made from the small pages that test the rule (a MkDocs hook)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from mongo_tables.build import build
from mongo_tables.findings.finding import Finding
from mongo_tables.findings.rules import RULES, Rule
from mongo_tables.lint.linter import may_be_ignored
from mongo_tables.results.answers import Answers
from mongo_tables.site.disk import snapshot_of
from mongo_tables.site.snapshot import Needs

EXAMPLES = Path(__file__).parents[1] / "tests" / "lint" / "pages"
TABLE = "reference/rules.md"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds ``reference/rules/ID.md`` for every rule with examples, and links the table of rules to them."""
    pages = {folder.name: rule_page(folder) for folder in sorted(EXAMPLES.glob("MT*"))}
    for rule, text in pages.items():
        files.append(File.generated(config, f"reference/rules/{rule}.md", content=text))
    table = files.get_file_from_path(TABLE)
    if table is not None:
        files.remove(table)
        files.append(File.generated(config, TABLE, content=linked(table.content_string, pages)))
    return files


def linked(table: str, pages: dict[str, str]) -> str:
    """The table of rules with a link on each rule that has a page."""
    return re.sub(
        r"`(MT\d{3})`",
        lambda found: f"[{found[0]}](rules/{found[1]}.md)" if found[1] in pages else found[0],
        table,
    )


_STEPS: Final[tuple[Needs, ...]] = ("nothing", "rows")
"""How an example is checked: without running its pipeline and, if the rule then finds nothing, with its rows."""


def rule_page(folder: Path) -> str:
    """The page of one rule: its summary, what it says about the first bad example, and all bad and good examples."""
    rule = RULES[folder.name]
    bad = sorted(folder.glob("bad-*.md"))
    parts = [
        f"# {rule.id}: {rule.name}\n\n**{rule.severity.capitalize()}.** {rule.summary} [All rules](../rules.md)\n",
        "## Why it matters\n",
        *(
            f"> {sentence(one.message)}\n\n{sentence(one.hint)}\n"
            for page in bad[:1]
            for one in told(page, rule.id)[:1]
        ),
        "## Bad\n",
        *map(example, bad),
        "## Good\n",
        *(example(page) for page in sorted(folder.glob("good-*.md"))),
        *(["## If it is intended\n", ignoring(rule)] if may_be_ignored(rule.id, rule.severity) else []),
    ]
    return "\n".join(parts)


def sentence(message: str) -> str:
    """A message as a full sentence, with a capital letter and a full stop."""
    end = "" if message.endswith("?") else "."
    return f"{message[:1].upper()}{message[1:]}{end}" if message else ""


def told(page: Path, rule: str) -> list[Finding]:
    """What the rule says about an example."""
    for needs in _STEPS:
        snapshot = snapshot_of({page.name: page.read_text("utf-8")}, needs, server="6.0")
        findings = build(snapshot, Answers(str(EXAMPLES / "fixtures"))).findings
        if found := [one for one in findings if one.rule == rule]:
            return found
    return []


def example(page: Path) -> str:
    """An example as an author would write it, with its title and the public report that it is modelled on."""
    title, source, comments = sections(page.read_text("utf-8"))
    reported = f" ({linked_source(source)})" if source else ""
    return f"{title}{reported}:\n\n```markdown\n{comments}\n```\n"


def linked_source(source: str) -> str:
    """A link to the report of a mistake: an issue on GitHub, an issue of MongoDB's server, or a web address."""
    place, _, report = source.rpartition(" ")
    issue = re.fullmatch(r"([\w.-]+/[\w.-]+)#(\d+)", report)
    if issue:
        return f"reported {place} [{report}](https://github.com/{issue[1]}/issues/{issue[2]})"
    if report.startswith("SERVER-"):
        return f"reported {place} [{report}](https://jira.mongodb.org/browse/{report})"
    return f"reported {place} [{report.split('/')[2]}]({report})"


def sections(text: str) -> tuple[str, str, str]:
    """The title of an example, where it was reported or "", and all below the line that says what is found in it."""
    title = text.splitlines()[0].removeprefix("# ")
    source = re.search(r"^Reported (.*in): (.+)\.$", text, re.MULTILINE)
    return (
        title,
        " ".join(source.groups()) if source else "",
        re.split(r"^Found: .*$", text, maxsplit=1, flags=re.MULTILINE)[1].strip(),
    )


def ignoring(rule: Rule) -> str:
    """How an author ignores the rule in a comment."""
    return (
        "To ignore the rule in a comment, add `ignore` with your reason:\n\n"
        f'```json\n"ignore": {{"{rule.id}": "why this is correct here"}}\n```\n\n'
        "If the rule finds nothing in that comment, `check` reports the `ignore` itself ([MT507](MT507.md))."
    )
