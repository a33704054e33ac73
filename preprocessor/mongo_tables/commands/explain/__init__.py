"""``mongo-tables explain``: the effect of each stage of a pipeline, the origin of a cell, the meaning of a rule or key.

``explanation`` makes an ``Explanation``, which ``terminal`` prints. ``lineage`` finds the origin of a cell, and
``reference`` explains rules and keys.
"""

from __future__ import annotations

import re
import shutil
from argparse import Namespace
from contextlib import closing
from pathlib import Path

from mongo_tables.build import Report
from mongo_tables.commands.explain import lineage, terminal
from mongo_tables.commands.explain.explanation import Explanation, explain
from mongo_tables.commands.explain.reference import explain_word, suggest_word
from mongo_tables.commands.pages import build_pages
from mongo_tables.directives.body_checks import shown_columns
from mongo_tables.directives.specs import DIRECTIVES, PipelineSpec
from mongo_tables.findings.usage import CommandError
from mongo_tables.results.answers import Answers
from mongo_tables.site.pages import by_comment, read_comment
from mongo_tables.site.snapshot import Needs


def run(arguments: Namespace) -> int:
    """Print the explanations. Return 0 if every table has its rows and columns, else 1."""
    if not Path(_split_place(arguments.place)[0]).exists() and _print_reference(arguments):
        return 0
    file, line = _find_place(arguments.place)
    needs: Needs = "nothing" if arguments.cell else "rows"
    with closing(Answers(arguments.results, arguments.limits, server=arguments.server)) as source:
        (report,) = build_pages([file], arguments, source, needs)
        comments = _find_comments(report, line)
        if arguments.cell:
            return _print_lineage(arguments, comments, report)
        explanations = [_explain(one, report) for one in comments]
    width = max(40, shutil.get_terminal_size((100, 24)).columns)
    texts, listed = [], set[str]()
    for one in explanations:
        fields = one.collection not in listed  # the fields of a collection are listed once
        texts.append("\n".join(terminal.lines(one, width=width, rows=arguments.rows, fields=fields)))
        listed.add(one.collection)
    print(f"\n\n{'─' * width}\n".join(texts))
    return 0 if all(one.sound for one in explanations) else 1


def _print_lineage(arguments: Namespace, comments: list[int], report: Report) -> int:
    (page,) = report.site.named
    if len(comments) > 1:
        raise CommandError(
            f"{page.file} has {len(comments)} tables and charts", f"name one by its line: {page.file}:LINE"
        )
    spec = page.specs[comments[0]]
    if not isinstance(spec, PipelineSpec):
        raise CommandError(
            "the comment has faults",
            f"see `mongo-tables check {page.file}`",
            findings=by_comment(page.comments, page.findings)[comments[0]],
        )
    row, column = arguments.cell
    traced = lineage.trace(spec, report.source.source, row, column, lineage.MOST_RUNS)
    print("\n".join(lineage.lines(traced, arguments.rows)))
    return 0


def _print_reference(arguments: Namespace) -> bool:
    """Print the meaning of a rule, a comment or a key. Return whether the word names one of these."""
    told = explain_word(arguments.place, shutil.get_terminal_size((100, 24)).columns)
    if told is None:
        return False
    print("\n".join(told))
    return True


def _split_place(written: str) -> tuple[str, int | None]:
    """Return file and line of ``FILE:LINE``, ``FILE:LINE:COLUMN`` (as in findings) or ``FILE``."""
    found = re.fullmatch(r"(.+?):(\d+)(?::\d+)?", written, re.DOTALL)
    return (written, None) if not found or Path(written).exists() else (found[1], int(found[2]))


def _find_place(written: str) -> tuple[str, int | None]:
    name, line = _split_place(written)
    if not Path(name).is_file():
        hint = (
            suggest_word(written) or "name a Markdown page, FILE or FILE:LINE, a rule such as MT411, or a key"
        )
        raise CommandError(f"{name}: no such file", hint)
    return name, line


def _find_comments(report: Report, line: int | None) -> list[int]:
    """Return the numbers of all comments with a pipeline, or only the number of the comment nearest to ``line``."""
    (page,) = report.site.named
    kinds = [kind for kind, spec in DIRECTIVES.items() if issubclass(spec, PipelineSpec)]
    found = [
        number
        for number, comment in enumerate(page.comments)
        if comment.kind in kinds or (comment.kind == "value" and '"collection"' in comment.body)
    ]
    if not found:
        raise CommandError(f"{page.file} has no comment for a {' or a '.join(kinds)}", findings=page.findings)
    if line is None:
        return found

    def distance(number: int) -> int:
        comment = page.comments[number]
        last = comment.line + len(re.findall(r"\r\n|\r|\n", page.text[comment.start : comment.end]))
        return max(comment.line - line, line - last, 0)

    return [min(found, key=distance)]


def _explain(number: int, report: Report) -> Explanation:
    (page,) = report.site.named
    comment, spec = page.comments[number], page.specs[number]
    errors = [one for one in by_comment(page.comments, page.findings)[number] if one.severity == "error"]
    read, _ = read_comment(comment, page.file, report.site.snapshot.shared)
    pipeline = spec if isinstance(spec, PipelineSpec) and not errors else read.pipeline
    if pipeline is None or not pipeline.collection:
        return Explanation(page.file, comment.line, comment.column, "", findings=tuple(errors))
    of_page = [one for one in report.findings if one.file == page.file and one.severity == "warning"]
    warnings = by_comment(page.comments, of_page)[number]
    columns = tuple(shown_columns(pipeline.comment.parsed.value))
    return explain(pipeline, columns, report.source.source, errors, warnings)
