"""The table of all rules: the meaning and the severity of each rule id such as ``MT120``.

The first digit is the category: MT1xx syntax and schema, MT2xx safety, MT3xx wrong or failing output, MT4xx misleading
output, MT5xx untidiness. The id of a removed rule is not used again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, cast

from mongo_tables.findings.finding import Finding, Severity, StandIn


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. ``rows`` is true if the rule can apply only after pipelines have run."""

    id: str
    name: str
    severity: Severity
    summary: str
    rows: bool


_TABLE: Final = """
MT100 error   not-utf-8: A page is not valid UTF-8, so it cannot be read.
# MT101–MT119: comments
MT101 error   unclosed-comment: A comment is never closed, or the next comment begins before it is closed.
MT102 error   comment-end-in-string: A JSON string contains --> (in MDX, */), which closes the comment.
MT103 error   misspelt-comment: A comment with JSON has a name that differs slightly from a known name.
MT104 warning suspicious-comment: A comment begins with a word that differs slightly from a known name.
MT106 error   unclosed-fence: A comment follows a code fence that the site does not recognise.
MT107 error   wrong-comment-end: A comment is closed by --!> instead of -->, or is an HTML comment in an MDX page.
MT110 error   escaped-comment: A backslash before a comment does not turn the comment into text.
MT111 note    hidden-comment: A comment is in raw HTML, where it is neither run nor shown.
MT112 error   comment-shown-as-code: The site shows a comment as code, or drops it from a title; other Markdown parsers do not.
MT113 error   no-room-for-table: A comment is in a heading, a table cell, a link, an image, an address or a formula that cannot contain it.
MT114 error   comment-in-tag: A comment is inside an HTML tag.
MT115 note    code-elsewhere: GitHub and editors show a comment as code, but the site does not.
MT116 error   nested-comment: A comment begins inside another comment that the site shows as text.
MT117 warning over-indented-comment: A comment in a list or admonition is indented like code.
MT118 error   table-lost: The placeholder of a table is missing from the site, or is shown as code.
MT119 error   comment-left-over: A page would be published with a comment that was not replaced.
# MT120–MT159: JSON, keys and values
MT120 error   json-syntax: The body of a comment is not valid JSON.
MT121 error   duplicate-key: An object has the same key twice, with different values.
MT122 warning repeated-key: An object has the same key twice, with the same value.
MT123 error   extended-json: A value of MongoDB Extended JSON is malformed.
MT124 note    comment-around-comment: A comment ends earlier than intended, at the end of a comment that begins inside it.
MT127 error   comment-in-front-matter: A comment is in the front matter of a page, where it is published unchanged.
MT128 warning value-in-contents: A value is in a heading of an MDX page, and Docusaurus shows its comment in the table of contents.
MT130 error   unknown-key: A comment has an unknown key, or a key that has no effect.
MT131 error   missing-key: A comment lacks a key that it needs.
MT132 error   wrong-type: A value has the wrong type, for example a string instead of a list.
MT133 error   wrong-value: A value has the right type, but is not one of the allowed values.
MT134 error   not-a-stage: An element of a pipeline is not an object with exactly one key that begins with $.
MT135 error   header-count: The number of headers of a table differs from the number of its columns.
MT136 error   not-a-column: A setting names a column that the table does not show.
MT137 error   duplicate-column: A table shows the same column twice.
MT138 error   duplicate-id: Two comments have the same id.
MT139 error   unknown-table: A value or check refers to a table that does not exist.
MT140 error   unknown-shared-pipeline: A pipeline names a shared stage list that does not exist.
MT141 error   shared-pipeline-cycle: A shared stage list contains itself.
MT142 error   shared-pipeline-unreadable: The file of a shared stage list cannot be read.
MT143 error   unknown-rule: A comment ignores a rule that does not exist.
MT145 error   contradictory-format: A format has two settings that contradict each other.
MT146 error   layout-does-not-fit: A total, a group or a heading does not fit the columns.
MT147 error   unknown-value: A comment names a value that the settings do not define.
MT150 error   experiment-file: An experiment file is not TOML, or cannot be run.
# MT160–MT169: regions of generated text
MT160 error   region-without-end: A generated region begins but never ends.
MT161 error   region-without-begin: A generated region ends but never begins.
MT162 error   region-without-comment: A generated region does not follow a comment.
MT163 error   region-without-digest: The marker of a generated region has no valid digest.
MT164 error   edited-region: The generated text after a comment was edited by hand.
MT165 error   no-place-for-table: A table cannot be written under a comment that is inside a line of text.
MT166 error   stale-region: The generated text after a comment does not match the current results.
MT167 error   shown-on-code-host: GitHub would show a comment inside a sentence, or treat its line as HTML.
MT168 error   drawing-in-the-way: The file name that the drawing of a chart needs is taken by another file.
# MT170–MT174: the site as it was built
MT170 error   place-without-figure: A file of the built site has a placeholder or a comment where a table, a chart or a value belongs.
MT172 error   plugin-passed-over: The configuration of a Zensical site lists the plugin, but Zensical runs only the Markdown extension.
# MT175–MT179: what only the build can know
MT175 note    known-at-build: A comment, or the table it names, is created when the site is built, so only the build can check it.
# MT2xx: safety
MT201 error   not-read-only: A pipeline writes, or runs code on the server.
MT202 error   not-known-to-read: A pipeline for a server has an operator that is not on the list of read-only operators.
# MT3xx: wrong or failing output
MT301 error   pipeline-fails: A pipeline cannot be run.
MT302 error   (rows) column-never-there: A column, a value or a condition names a field that no row has.
MT303 error   (rows) no-rows: A pipeline returns no rows, and the table does not set `empty`.
MT304 error   (rows) no-collection: A pipeline reads a collection that the results source does not have.
MT305 error   sort-key-missing: Rows are sorted by a field that no row has.
MT310 error   no-results-source: The results source cannot be reached or read.
MT311 error   untracked-file: A committed page needs a file that Git does not track.
MT312 error   needs-server: A pipeline has to run on files, but needs a server.
MT313 note    unread-file: A file in the folder of results is not read.
MT314 warning newer-than-server: A pipeline has an operator that the server's version of MongoDB lacks.
MT320 error   not-one-row: A value in the prose comes from no row, or from several.
MT321 error   check-of-nothing: A statement is bound to rows that do not exist.
MT322 error   check-fails: A statement in the prose is false for the rows of its table.
MT323 error   bad-query: A query on the rows of a table cannot be run.
MT324 warning unsupported-figure: A section with a table has a typed number that is in none of the tables that the page can quote (`check --numbers`).
MT325 error   no-value: A value in the prose is empty, null, or a whole document or array.
MT326 warning stale-number: A typed number differs from the result in the row and column that its sentence names (`check --numbers`).
MT329 error   other-type: A query on rows compares a field with a value of a type that the field has in no row.
MT330 error   cannot-be-drawn: A chart would leave out rows, draw several rows as one, or add up values that have no meaningful sum.
MT331 error   no-baseline: A table is compared with a row that does not exist, or with several.
MT332 error   (rows) outside-its-range: A value lies outside the range that is shown with it.
MT333 warning (rows) old-results: The newest result behind a figure is older than the figure's `max_age`.
MT334 error   (rows) unsound-comparison: A row lacks the comparison that its table shows, was not compared with the baseline, or has a verdict that contradicts its interval.
MT335 error   (rows) format-does-not-fit: A column has values that do not fit its format or its total, such as strings formatted as per cent.
MT337 warning (rows) not-computed: A computed column has no value in a row, because an operand is not a number or a divisor is 0.
MT338 note    numbers-kept-as-text: A column of numbers is kept as text because some of its cells are not numbers.
MT339 warning (rows) other-version: A figure was measured on a different version from the one that `measured_of` names.
# MT4xx: misleading output
MT401 warning limit-without-sort: A `$limit` picks documents that are not sorted.
MT402 warning path-never-there: A pipeline reads a field that no document has.
MT403 warning (rows) path-sometimes-there: A column comes from a field that only some documents have.
MT404 warning wrong-unit: A header names a different unit from the one that the pipeline computes.
MT408 warning (rows) text-order: Strings that contain numbers are sorted letter by letter.
MT411 warning (rows) repeated-row-key: Two rows cannot be distinguished, or their names differ only in case or white space.
MT416 warning rows-by-chance: Rows come from a stage that returns them in no defined order.
MT417 note    stored-order: Rows come in the order in which documents are stored.
MT418 note    (rows) tied-rows: Two rows have the same values in all sort keys.
MT419 warning (rows) tie-at-limit: A `$limit` falls between two documents that have the same values in all sort keys.
MT420 warning array-by-chance: The elements of a shown array have no defined order.
MT421 warning at-random: A pipeline picks documents or generates numbers at random.
MT424 warning (rows) picked-by-chance: A value depends on the position of documents that are not sorted.
MT426 warning (rows) dates-as-names: A chart shows dates as strings, so they are out of order or equally spaced.
MT427 warning two-units: A header names a different unit from the format of its column.
MT428 warning texts-left-out: A sum or a mean skips values that are not numbers, such as strings or Boolean values.
MT430 warning (rows) unsafe-link: A row has an address that must not become a link.
MT431 warning (rows) group-in-pieces: Rows of one group are not adjacent and appear under two headings.
MT432 warning (rows) failed-benchmark: Figures of a failed benchmark are shown.
MT433 warning (rows) numbers-as-texts: Numbers that are stored as strings are compared as strings.
MT434 warning field-as-string: A query compares a field with a string such as "$name", which does not stand for the value of the field `name` in a query.
MT435 warning (rows) same-for-all: A condition has the same result for all documents, for example because the field and the constant are never of the same kind.
MT436 warning name-without-dollar: An expression contains the name of a field as a string, without its `$`.
MT437 warning (rows) mixed-date-parts: A date is shown with parts of two calendars, without any part of the date, with the name of the wrong day or month, or as a month without its year.
MT438 warning place-in-key: A sort or a join names an array element by its index, and a server may not find that element.
MT439 note    (rows) documents-dropped: An `$unwind` drops documents that have no array element, or a `$bucket` excludes documents at its last bound.
MT440 warning (rows) counted-repeatedly: A sum or a mean counts a value repeatedly, once for each element of an array that it does not belong to.
MT441 warning (rows) join-of-kinds: A join compares fields of different kinds, so it finds no match.
MT442 warning (rows) variable-as-field: An expression reads a variable with one `$`, as a field that no document has.
MT443 warning sum-of-arrays: A sum or a mean over a group skips values that are arrays.
MT444 warning window-without-bounds: A `$setWindowFields` has `sortBy`, but one of its accumulators has no `window`.
MT445 warning branch-never-reached: A branch of a `$switch` is never reached.
MT446 warning (rows) array-of-one: A column shows arrays of one element, which a stage has created.
MT447 warning missing-is-not-null: An expression tests whether a field is null or less than a number, but some documents lack the field.
MT448 warning rounded-factor: A quotient loses its fraction before it is multiplied.
MT449 warning (rows) excludes-nothing: A condition excludes a string that no document has, although some document has a slightly different string.
MT450 note    (rows) false-is-not-missing: A condition asks for false, but some documents lack the field.
MT451 note    (rows) missing-is-unequal: A condition excludes numbers, but also selects documents that lack the field.
MT452 warning (rows) different-elements: Conditions on elements of an array are met by different elements, or `$unwind` also returns other elements.
MT453 warning (rows) groups-of-one: Documents are grouped by a time, but each group has only one document.
MT454 warning (rows) missing-joins-missing: A join matches documents that lack its local field with documents that lack its foreign field.
MT455 warning (rows) versions-as-numbers: A column has versions as numbers, so 3.10 becomes 3.1, which is less than 3.9.
MT456 warning (rows) mixed-time-zones: The same date is in a local time zone in one place, and in UTC in another.
MT457 warning (rows) seconds-as-milliseconds: A number that is not in milliseconds is converted to a date, or added to one.
MT458 warning repeated-as-distinct: The name of a column promises distinct values, but the column counts every document.
MT459 warning (rows) summary-of-one-value: A sum, a mean, a minimum or a maximum covers only one number, and so is equal to it.
MT460 warning sum-of-set: A sum or a mean counts equal values only once, because a set contains each value only once.
MT461 warning (rows) line-without-a-line: A line or an area connects nothing, because no series has two values.
# MT5xx: untidiness
MT507 warning unused-ignore: A comment ignores a rule that finds nothing in it.
MT508 note    (rows) many-digits: A column shows more digits than readers need.
MT510 note    (rows) unit-missing: No format, header or column states the unit of benchmarks.
"""  # noqa: E501 - one rule a line

RULES: Final[dict[str, Rule]] = {
    id: Rule(id, name, cast("Severity", severity), summary, bool(marks))
    for id, severity, marks, name, summary in re.findall(
        r"^(MT\d{3}) (\w+) +(\(rows\) )?([\w-]+): (.+)$", _TABLE, re.MULTILINE
    )
}
"""Every rule, by its id."""


def finding(rule: str, file: str, at: tuple[int, int], message: str, hint: str = "") -> Finding:
    """Return a finding with the default severity of its rule.

    ``at`` is (line, column), counted from 1, or (0, 0) for the whole file. If ``at`` is a ``StandIn``, the place in the
    other file becomes a related place.

    Raises:
        KeyError: If no rule has the id ``rule``.
    """
    related = (at.meant,) if isinstance(at, StandIn) else ()
    return Finding(file, at[0], at[1], rule, RULES[rule].severity, message, hint, related)
