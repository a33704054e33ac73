"""The reader of comments: it checks the body of a comment and turns it into a spec of validated plain data.

``read`` checks a body against ``schemas/`` and against rules that a schema cannot express, and returns every fault with
its line and column.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from mongo_tables.directives.body_checks import SETTINGS, body_findings
from mongo_tables.directives.comments import Comment
from mongo_tables.directives.keywords import NAMED
from mongo_tables.directives.pipelines import Expanded, Lookup, SharedPipelines
from mongo_tables.directives.row_keys import expand_rows
from mongo_tables.directives.schemas.validation import schema_findings
from mongo_tables.directives.specs import DIRECTIVES, PipelineSpec, Spec
from mongo_tables.findings.finding import Finding, did_you_mean
from mongo_tables.findings.rules import finding
from mongo_tables.jsontext.reader import Document, decode_at


class Reading(NamedTuple):
    """The result of reading a comment.

    Attributes:
        spec: The spec, or None if the comment has an error. Settings for columns that are not shown are left out; if
            they are the only errors, there is a spec.
        findings: All faults of the comment.
        pipeline: The pipeline, if it can run even though other keys may have faults.
    """

    spec: Spec | None
    findings: list[Finding]
    pipeline: PipelineSpec | None = None


def read(comment: Comment, file: str, shared: Lookup) -> Reading:
    """Read one comment of ``file``. Faults of the text are findings.

    ``shared`` returns the shared stage list with a name, or None.
    """
    if comment.keyword == NAMED:
        name, values = comment.body.strip(), shared.values if isinstance(shared, SharedPipelines) else {}
        comment = comment.named(values.get(name))
        if name not in values:
            hint = did_you_mean(name, values) or "define it in mongo-tables.toml as [values.NAME]"
            return Reading(
                None, [finding("MT147", file, comment.locate(0), f"there is no value `{name}`", hint)]
            )
    kind, document = comment.kind, Document(file, comment.parsed, comment.locate)
    found: list[Finding] = []
    for problem in document.parsed.problems:
        found.append(document.locate(problem))
    if not document.parsed.readable:
        return Reading(None, found)
    subject = f"a {comment.keyword} comment"
    found += schema_findings(document, kind, subject)
    if not isinstance(document.parsed.value, dict):
        return Reading(None, found)
    found += body_findings(document, kind, subject)
    # Extended JSON in values of the wrong type is not decoded.
    body, malformed = dict(document.parsed.value), list[Finding]()
    for key in ("let", "where", "expect", "baseline"):
        if key in body:
            body[key], faults = decode_at(document, (key,), body[key])
            malformed += faults
    if isinstance(title := body.get("title"), Mapping) and "where" in title:
        where, faults = decode_at(document, ("title", "where"), title["where"])
        body["title"] = {**title, "where": where}
        malformed += faults
    expanded = expand_rows(document, body, shared)
    malformed += expanded.findings
    found += malformed
    errors = {one.rule for one in found if one.severity == "error"} if found else set[str]()
    if errors == {"MT136"}:
        # Without these settings there is a spec, so that other faults of the columns are still found.
        body = {key: value for key, value in body.items() if key not in SETTINGS}
        errors.clear()
    spec = None if errors else DIRECTIVES[kind].of(comment, file, body, expanded)
    pipeline = spec if isinstance(spec, PipelineSpec) and expanded.stages else None
    if pipeline is None and not malformed:
        pipeline = _runnable_part(comment, file, body, expanded)
    return Reading(spec, found, pipeline)


def _runnable_part(
    comment: Comment, file: str, body: Mapping[str, Any], expanded: Expanded
) -> PipelineSpec | None:
    """Return the pipeline of a comment whose other keys may have faults, or None if it cannot run."""
    # In a value or a check of a table, ``where`` is a query on rows, not a pipeline.
    has_rows = issubclass(DIRECTIVES[comment.kind], PipelineSpec)
    if not expanded.stages or not (has_rows or (comment.kind == "value" and "collection" in body)):
        return None
    for stage in expanded.stages:
        if not (isinstance(stage, Mapping) and len(stage) == 1 and next(iter(stage)).startswith("$")):
            return None
    return PipelineSpec(
        comment=comment,
        file=file,
        collection=str(body.get("collection", "")),
        pipeline=expanded.stages,
        let=body["let"] if isinstance(body.get("let"), Mapping) else {},
        origins=expanded.origins,
    )
