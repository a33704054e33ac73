"""``mongo-tables new``: a comment for a collection, made by looking at its documents."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from preprocessor.commands.explain.emptystage import why_nothing
from preprocessor.commands.explain.stepper import walk
from preprocessor.commands.new.draft import (
    candidates,
    columns,
    comment,
    left_out,
    orders,
    sorting,
    suggested,
    titles,
)
from preprocessor.commands.new.drafting import Draft, Drafted, soundest
from preprocessor.files import atomic
from preprocessor.findings.reporters import escape_control_chars
from preprocessor.findings.usage import UsageError
from preprocessor.jsontext.extended import decode
from preprocessor.pages.files import read_text
from preprocessor.pages.keptanswers import KeptAnswers
from preprocessor.pages.markdown import newline_of
from preprocessor.results.model import Query
from preprocessor.schemas.validation import did_you_mean

if TYPE_CHECKING:
    from preprocessor.commands.new.draft import Candidate
    from preprocessor.results.model import ResultsSource, Rows

_LOOKED_AT = 50
_LISTED = 8
_AT_HAND = 10_000


def run(arguments: Namespace) -> int:
    """Prints the comment, or appends it to a page; asks for what no option says when a person sits there."""
    asking = sys.stdin.isatty() and not arguments.columns
    where = dict(_condition(text) for text in arguments.where or ())
    with closing(KeptAnswers(arguments.results, arguments.limits)) as asked:
        collection = _collection(arguments.collection, asked.source.collections(), asking)
        documents = _documents(asked.source, collection, where)
        drafted, out = _drafted(arguments, asked, collection, where, documents, asking)
    if arguments.append:
        _append(Path(arguments.append), drafted.text)
    else:
        sys.stdout.buffer.write(
            _encoded(drafted.text + "\n")
        )  # A page is UTF-8, whatever the terminal speaks.
    _say(f"{len(documents)} documents of `{collection}` looked at")
    for reason, names in out.items():
        more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
        _say(f"left out ({reason}): {', '.join(names[:_LISTED])}{more}")
    for message in drafted.ignored:
        _say(f"the comment ignores: {message}")
    return 0


def _drafted(
    arguments: Namespace,
    asked: KeptAnswers,
    collection: str,
    where: Mapping[str, Any],
    documents: Rows,
    asking: bool,
) -> tuple[Drafted, Mapping[str, Sequence[str]]]:
    """The comment, and the fields that it leaves out, by the reason why, where nobody chose them."""
    fields = _fields(collection, documents)
    paths = _chosen(arguments.columns, fields, asking)
    headers = _headers(arguments.headers, paths, titles(paths, documents), asking)
    sort = _sorting(arguments.sort, paths, asking)
    chosen = bool(arguments.columns or asking)

    def draft(shown: Sequence[str], by: Sequence[str]) -> Draft:
        texts = dict(zip(paths, headers, strict=True))
        named = [texts.get(path) or titles([path], documents)[0] for path in shown]
        shaped, title = columns(shown, named, fields), arguments.title or ""
        return Draft(tuple(shown), partial(comment, collection, where, shaped, by, title))

    if arguments.sort or asking or not _can_be_tried(asked.source, documents):
        drafted = Drafted(draft(paths, sort).write({}), tuple(paths))
    else:
        may_add = not (chosen or arguments.headers)
        drafted = soundest((draft(*one) for one in orders(paths, fields, may_add=may_add)), asked)
    return drafted, {} if chosen else left_out(documents, fields, drafted.paths)


def _can_be_tried(source: ResultsSource, documents: Rows) -> bool:
    """Whether to run a draft costs little: over documents at hand, and over the few documents that were looked at."""
    return source.local is not None or len(documents) < _LOOKED_AT


def _say(text: str) -> None:
    print(escape_control_chars(text), file=sys.stderr)


def _ask(question: str, otherwise: str) -> str:
    print(
        f"{escape_control_chars(question)} [{escape_control_chars(otherwise)}]: ",
        end="",
        file=sys.stderr,
        flush=True,
    )
    return sys.stdin.readline().strip() or otherwise


def _condition(text: str) -> tuple[str, Any]:
    """Field and value of FIELD=VALUE; the value is JSON, or else the text itself."""
    field, found, value = text.partition("=")
    if not found or not field.strip():
        raise UsageError(
            f"--where {text}: not FIELD=VALUE", "for example --where _id.testname=insert_docsize"
        )
    try:
        return field.strip(), json.loads(value)
    except ValueError:
        return field.strip(), value


def _collection(named: str | None, known: Sequence[str], asking: bool) -> str:
    if named in known:
        return str(named)
    listed = ", ".join(known)
    if not known:
        raise UsageError("the results source has no collections", "see --results")
    if named is not None:
        hint = did_you_mean(named, known) or f"There are {listed}."
        raise UsageError(f"the results source has no collection `{named}`", hint)
    if len(known) == 1:
        return known[0]
    if not asking:
        raise UsageError("which collection?", f"There are {listed}.")
    return _collection(_ask(f"Collection ({listed})", known[0]), known, asking)


def _fields(collection: str, documents: Rows) -> list[Candidate]:
    fields = candidates(documents)
    if not fields:
        raise UsageError(
            f"the documents of `{collection}` have no numbers or texts in their first two levels",
            "write a pipeline that computes some; `mongo-tables explain` shows what it does",
        )
    return fields


def _documents(source: ResultsSource, collection: str, where: Mapping[str, Any]) -> Rows:
    wanted, malformed = decode(dict(where))
    if malformed:
        raise UsageError(f"--where: {malformed[0].message}")
    stage = {"$match": wanted}
    most = _LOOKED_AT if source.local is None else _AT_HAND
    found = source.aggregate(Query(collection, (stage, {"$limit": most})))
    if found:
        return found
    way = walk(source, Query(collection, (stage,)))
    start, *_ = way.steps()
    if not start.count:
        raise UsageError(f"the collection `{collection}` has no documents")
    reason, hint = why_nothing(stage, 0, start, way)
    raise UsageError(reason or "no document fulfils --where", hint)


def _chosen(written: str | None, fields: Sequence[Candidate], asking: bool) -> list[str]:
    """The paths of the columns: named, picked from a list, or suggested."""
    proposal = suggested(fields)
    if asking:
        for number, one in enumerate(fields, 1):
            _say(
                f"{number:>4}  {one.path}  {'|'.join(one.types)}  {one.distinct} different, such as {one.example}"
            )
        written = _ask("Columns, by number or name, with commas", ", ".join(proposal))
    if not written:
        return proposal
    return list(dict.fromkeys(_path(part.strip(), fields) for part in written.split(",") if part.strip()))


def _path(written: str, fields: Sequence[Candidate]) -> str:
    known = [one.path for one in fields]
    if written.isdigit() and 1 <= int(written) <= len(known):
        return known[int(written) - 1]
    if written not in known:
        hint = (
            did_you_mean(written, known)
            or f"There are {', '.join(known[:20])}{' …' if len(known) > 20 else ''}."
        )
        raise UsageError(f"no document has a number, a text or a date as `{written}`", hint)
    return written


def _headers(
    written: str | None, paths: Sequence[str], proposal: Sequence[str], asking: bool
) -> Sequence[str]:
    if written:
        headers = [part.strip() for part in written.split(",")]
        if len(headers) != len(paths):
            raise UsageError(f"{len(headers)} headers for {len(paths)} columns: {', '.join(paths)}")
        return headers
    if not asking:
        return proposal
    return [_ask(f"Header of {path}", text) for path, text in zip(paths, proposal, strict=True)]


def _sorting(written: str | None, paths: Sequence[str], asking: bool) -> Sequence[str]:
    proposal = sorting(paths)
    text = written or (_ask("Sorted by", ", ".join(proposal)) if asking else "")
    sort = [part.strip() for part in text.split(",")] if text else proposal
    for path in sort:
        if path not in paths:
            hint = "a table is sorted by what it shows"
            raise UsageError(f"`{path}` is not one of the columns {', '.join(paths)}", hint)
    return sort


def _append(file: Path, text: str) -> None:
    page = read_text(file) if file.exists() else ""
    newline = newline_of(page)
    above = (
        "" if not page or page.endswith(newline * 2) else newline if page.endswith(newline) else newline * 2
    )
    written = page + above + text.replace("\n", newline) + newline
    atomic.write(file.resolve(), _encoded(written))
    _say(f"{file}:{written.count(newline, 0, len(page + above)) + 1}: comment written")


def _encoded(text: str) -> bytes:
    """UTF-8; what an option held that is no text becomes a question mark."""
    return text.encode("utf-8", "replace")
