"""``mongo-tables render``: pages with their tables, to standard output, to a folder, or in place."""

from __future__ import annotations

import difflib
import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from preprocessor.files import atomic
from preprocessor.findings.finding import Finding
from preprocessor.findings.reporters import escape_control_chars, report
from preprocessor.findings.usage import UsageError
from preprocessor.pages.build import Build
from preprocessor.pages.companions import companions
from preprocessor.pages.files import read_pages
from preprocessor.pages.inplace import region_findings, render_in_place
from preprocessor.pages.keptanswers import KeptAnswers
from preprocessor.pages.markdown import render_markdown
from preprocessor.pages.model import Answers, Page
from preprocessor.pages.sitepages import Whereabouts


def run(arguments: Namespace) -> int:
    """Renders every page or, when one has an error, none; 0 when nothing is to complain about, 1 otherwise."""
    if (arguments.check or arguments.force) and not arguments.in_place:
        raise UsageError("--check and --force go with --in-place")
    pages = read_pages(arguments.files, arguments.pipelines)
    apart = all(map(Whereabouts(arguments.site).leave_out, pages))
    together = [*pages, *companions(pages, arguments.pipelines, arguments.site, apart=apart)]
    build = Build(KeptAnswers(arguments.results, arguments.limits), together)
    with closing(build.asked):
        build.ask()
        if build.away:
            raise build.away
        findings = build.findings()
    if arguments.in_place and not arguments.force:
        findings = sorted({*findings, *_region_findings(pages)})
    if findings:
        sources = {page.file: page.text for page in together}
        sys.stderr.write(report(findings, "text", color=sys.stderr.isatty(), sources=sources))
    if any(one.severity == "error" for one in findings):
        return 1
    return _write(arguments, pages, build)


def _region_findings(pages: Sequence[Page]) -> list[Finding]:
    return [one for page in pages for one in region_findings(page)]


def _write(arguments: Namespace, pages: Sequence[Page], build: Build) -> int:
    if arguments.in_place:
        return _in_place(pages, build.answers, only_check=arguments.check)
    texts = [render_markdown(page, build.answers, build.tables) for page in pages]
    if arguments.output:
        _to_folder(Path(arguments.output), pages, texts)
    else:
        sys.stdout.buffer.write("".join(texts).encode("utf-8"))
    return 0


def _to_folder(folder: Path, pages: Sequence[Page], texts: Sequence[str]) -> None:
    files: dict[Path, str] = {}
    for page in pages:
        file = _under(folder, page.file)
        if file in files:
            raise UsageError(
                f"{files[file]} and {page.file} would both become {file}", "render them one by one"
            )
        files[file] = page.file
    _save(dict(zip(files, texts, strict=True)))


def _in_place(pages: Sequence[Page], answers: Answers, *, only_check: bool) -> int:
    changed = [(page, text) for page in pages if (text := render_in_place(page, answers)) != page.text]
    if only_check:
        for page, text in changed:
            sys.stdout.writelines(_diff(page, text))
        return 1 if changed else 0
    _save({Path(page.file): text for page, text in changed})
    for page, _ in changed:
        print(f"{escape_control_chars(page.file)}: tables written", file=sys.stderr)
    return 0


def _diff(page: Page, text: str) -> list[str]:
    before, after = page.text.splitlines(keepends=True), text.splitlines(keepends=True)
    lines = difflib.unified_diff(before, after, page.file, f"{page.file} (as it should be)")
    return [line if line.endswith("\n") else line + "\n" for line in lines]


def _under(folder: Path, file: str) -> Path:
    """Where a page goes under ``folder``: its relative path, or its name when that leads elsewhere."""
    path = Path(file)
    inside = not path.is_absolute() and ".." not in path.parts
    return folder / (path if inside else path.name)


def _save(texts: Mapping[Path, str]) -> None:
    """Writes all pages or none; a link stays a link, to a file with the new text."""
    contents = {file.resolve(): text.encode("utf-8") for file, text in texts.items()}
    for file in contents:
        file.parent.mkdir(parents=True, exist_ok=True)
    atomic.write_all(contents)
