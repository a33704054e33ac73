"""The table of all rules: what a rule id such as ``MT120`` means and how grave it is.

Numbers go by kind: MT1xx syntax and schema (MT100 pages, MT101–MT119 and MT124–MT129 comments, the others of
MT120–MT159 JSON, keys and values, MT160–MT169 regions of generated text, MT170–MT179 the site as it is
built), MT2xx safety, MT3xx wrong or failing output, MT4xx misleading output, MT5xx untidiness. An id is never given a
second meaning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from mongo_tables.findings.finding import Finding, Severity


class Rule(NamedTuple):
    """One rule: its id, its name in kebab case, its usual severity and what it says, in one sentence."""

    id: str
    name: str
    severity: Severity
    summary: str


_ALL = (
    Rule("MT100", "not-utf-8", "error", "A page has bytes that are no UTF-8, so it cannot be read."),
    # MT101–MT119: comments
    Rule(
        "MT101", "unclosed-comment", "error", "A comment is never closed, or not before the next one begins."
    ),
    Rule("MT102", "comment-end-in-string", "error", "A JSON string holds -->, which closes the comment."),
    Rule(
        "MT103",
        "misspelt-comment",
        "error",
        "A comment with JSON in it has a name that is nearly a known one.",
    ),
    Rule("MT104", "suspicious-comment", "warning", "A comment begins with what is nearly a known name."),
    Rule(
        "MT106",
        "unclosed-fence",
        "error",
        "A comment stands under a fence that the site does not take as one.",
    ),
    Rule("MT107", "wrong-comment-end", "error", "A comment is closed by --!> instead of -->."),
    Rule(
        "MT110",
        "escaped-comment",
        "error",
        "A backslash stands before a comment, which does not make it text.",
    ),
    Rule(
        "MT111",
        "hidden-comment",
        "note",
        "A comment stands in raw HTML where it is neither run nor shown.",
    ),
    Rule(
        "MT112",
        "comment-shown-as-code",
        "error",
        "The site shows a comment as code, or drops it from a title; other readers do not.",
    ),
    Rule(
        "MT113",
        "no-room-for-table",
        "error",
        "A table or chart stands in a heading, a table cell, a link or an image.",
    ),
    Rule("MT114", "comment-in-tag", "error", "A comment stands inside an HTML tag."),
    Rule("MT115", "code-elsewhere", "note", "GitHub and editors show a comment as code, the site does not."),
    Rule(
        "MT116", "nested-comment", "error", "A comment begins inside another one that the site shows as text."
    ),
    Rule(
        "MT117",
        "over-indented-comment",
        "warning",
        "A comment in a list or admonition is indented like code.",
    ),
    Rule("MT118", "table-lost", "error", "The site dropped the place of a table, or shows it as code."),
    Rule("MT119", "comment-left-over", "error", "A page that was about to be published still has a comment."),
    # MT120–MT159: JSON, keys and values
    Rule("MT120", "json-syntax", "error", "The body of a comment is not JSON."),
    Rule("MT121", "duplicate-key", "error", "An object has the same key twice, with different values."),
    Rule("MT122", "repeated-key", "warning", "An object has the same key twice, with the same value."),
    Rule("MT123", "extended-json", "error", "A value of MongoDB Extended JSON is malformed."),
    Rule(
        "MT124",
        "second-comment-end",
        "note",
        "A comment around another one has an end of its own, which the site shows as text.",
    ),
    Rule(
        "MT125",
        "not-switched-off",
        "warning",
        "A comment stands behind the end of one that was to switch it off.",
    ),
    Rule(
        "MT126",
        "comment-without-end",
        "warning",
        "A comment goes on over paragraphs, to the end of one that begins inside it.",
    ),
    Rule(
        "MT127",
        "comment-in-front-matter",
        "error",
        "A comment stands in the front matter of a page, where it is published as it is.",
    ),
    Rule("MT130", "unknown-key", "error", "A comment has a key that means nothing."),
    Rule("MT131", "missing-key", "error", "A comment lacks a key that it needs."),
    Rule(
        "MT132",
        "wrong-type",
        "error",
        "A value is of the wrong type, for example a string instead of a list.",
    ),
    Rule("MT133", "wrong-value", "error", "A value is of the right type, but is not one of those possible."),
    Rule(
        "MT134", "not-a-stage", "error", "An element of a pipeline is not an object with exactly one $-key."
    ),
    Rule("MT135", "header-count", "error", "A table has more headers than columns, or fewer."),
    Rule("MT136", "not-a-column", "error", "A setting names a column that the table does not show."),
    Rule("MT137", "duplicate-column", "error", "A table shows the same column twice."),
    Rule("MT138", "duplicate-id", "error", "Two comments have the same id."),
    Rule("MT139", "unknown-table", "error", "A value or check refers to a table that does not exist."),
    Rule(
        "MT140",
        "unknown-shared-pipeline",
        "error",
        "A pipeline names a shared stage list that does not exist.",
    ),
    Rule("MT141", "shared-pipeline-cycle", "error", "A shared stage list contains itself."),
    Rule("MT142", "shared-pipeline-unreadable", "error", "The file of a shared stage list cannot be read."),
    Rule("MT143", "unknown-rule", "error", "A comment ignores a rule that does not exist."),
    Rule("MT144", "anchor-taken", "warning", "A heading of the page has the id of a table."),
    Rule("MT145", "contradictory-format", "error", "A format says two things of which one can hold."),
    Rule("MT146", "layout-does-not-fit", "error", "A total, a group or a heading does not fit the columns."),
    Rule("MT150", "experiment-file", "error", "An experiment file is not TOML, or cannot be run."),
    # MT160–MT169: regions of generated text
    Rule("MT160", "region-without-end", "error", "A generated region begins and never ends."),
    Rule("MT161", "region-without-begin", "error", "A generated region ends that never began."),
    Rule("MT162", "region-without-comment", "error", "A generated region stands under no comment."),
    Rule("MT163", "region-without-digest", "error", "The marker of a generated region has no proper digest."),
    Rule("MT164", "edited-region", "error", "What was written behind a comment was edited by hand."),
    Rule(
        "MT165",
        "no-place-for-table",
        "error",
        "A table is to be written under a comment within a line of text.",
    ),
    Rule("MT166", "stale-region", "error", "What stands behind a comment is not that of today's results."),
    Rule(
        "MT167",
        "shown-on-code-host",
        "error",
        "GitHub would show a comment of a sentence, or take its line for HTML.",
    ),
    Rule(
        "MT168",
        "drawing-in-the-way",
        "error",
        "A file that is not ours stands where the drawing of a chart belongs.",
    ),
    Rule("MT169", "orphan-drawing", "warning", "A drawing beside a page belongs to no chart of it any more."),
    # MT170–MT174: the site as it was built
    Rule(
        "MT170",
        "place-without-figure",
        "error",
        "A file of the built site has a placeholder or a comment where a table, a chart or a value belongs.",
    ),
    Rule(
        "MT172",
        "plugin-passed-over",
        "error",
        "The file of a site lists the plugin for Zensical, which runs the Markdown extension alone.",
    ),
    # MT175–MT179: what the build alone can know
    Rule(
        "MT175",
        "known-at-build",
        "note",
        "A comment, or the table it names, is made when the site is built: only the build can check it.",
    ),
    # MT2xx: safety
    Rule("MT201", "not-read-only", "error", "A pipeline writes, or runs code on the server."),
    Rule(
        "MT202",
        "not-known-to-read",
        "error",
        "A pipeline for a server has an operator that is not known to only read.",
    ),
    # MT3xx: wrong or failing output
    Rule("MT301", "pipeline-fails", "error", "A pipeline cannot be run."),
    Rule("MT302", "column-never-there", "error", "No row has a field that is shown or asked for."),
    Rule("MT303", "no-rows", "error", "A pipeline gives no rows, and the table has no `empty`."),
    Rule(
        "MT304",
        "no-collection",
        "error",
        "A pipeline reads a collection that the results source does not have.",
    ),
    Rule("MT305", "sort-key-missing", "error", "Rows are sorted by a field that no row has."),
    Rule("MT306", "null-counted-as-zero", "error", "Samples that are null count as 0 in a mean."),
    Rule("MT307", "rounded-divisor", "error", "A divisor was rounded to whole numbers, and may be 0."),
    Rule("MT308", "zero-divisor", "error", "A document has 0 where the pipeline divides by it."),
    Rule("MT310", "no-results-source", "error", "The results source cannot be reached or read."),
    Rule("MT312", "needs-server", "error", "A pipeline that files are asked for runs on a server only."),
    Rule("MT313", "unread-file", "note", "A file of the results source is there, and is not read."),
    Rule(
        "MT314",
        "newer-than-server",
        "warning",
        "A pipeline has an operator that came with a newer version of MongoDB than that of the server.",
    ),
    Rule(
        "MT315",
        "wrong-argument",
        "warning",
        "An operator that does not run on files has an argument of a kind that it does not take.",
    ),
    Rule("MT320", "not-one-row", "error", "A value in the prose comes from no row, or from several."),
    Rule("MT321", "check-of-nothing", "error", "A statement is bound to rows that do not exist."),
    Rule(
        "MT322", "check-fails", "error", "A statement in the prose does not hold for the rows of its table."
    ),
    Rule("MT323", "bad-query", "error", "A query on the rows of a table cannot be run."),
    Rule(
        "MT324",
        "unsupported-figure",
        "warning",
        "A typed number in a section with a table is in no table at hand (`check --numbers`).",
    ),
    Rule("MT325", "no-value", "error", "A value in the prose is empty, null, or a whole document or array."),
    Rule(
        "MT330",
        "cannot-be-drawn",
        "error",
        "A chart would leave out rows, draw several as one, or add up what has no sum.",
    ),
    Rule("MT331", "no-baseline", "error", "A table is compared with a row that is not there, or not one."),
    Rule("MT332", "outside-its-range", "error", "A value lies outside the range that is shown with it."),
    Rule("MT333", "old-results", "warning", "The newest result behind a figure is older than its `max_age`."),
    Rule(
        "MT334",
        "unsound-comparison",
        "error",
        "A row lacks the comparison that its table shows, has it against another row, or contradicts it.",
    ),
    Rule(
        "MT335",
        "format-does-not-fit",
        "error",
        "A column has values that its format or its total is not for, such as texts in per cent.",
    ),
    Rule("MT336", "no-interval", "warning", "A tolerance goes by an interval, and no row has one."),
    # MT4xx: misleading output
    Rule("MT401", "limit-without-sort", "warning", "A `$limit` picks documents that nothing has ordered."),
    Rule("MT402", "path-never-there", "warning", "A pipeline reads a field that no document has."),
    Rule("MT403", "path-sometimes-there", "warning", "A column comes from a field that only some have."),
    Rule("MT404", "wrong-unit", "warning", "A header names another unit than the pipeline computes."),
    Rule("MT405", "mixed-units", "warning", "A table uses one prefix for steps of 1000 and of 1024."),
    Rule("MT406", "wrong-name", "warning", "A field is named for bytes, but counts something else."),
    Rule("MT407", "zip-by-position", "warning", "Samples of different series are paired by position."),
    Rule("MT408", "text-order", "warning", "Texts with numbers in them are sorted letter by letter."),
    Rule("MT409", "unchecked-counters", "warning", "Counters are subtracted, whatever server they are of."),
    Rule("MT410", "unguarded-divisor", "note", "Nothing says that a divisor is never 0 or missing."),
    Rule("MT411", "repeated-row-key", "warning", "Two rows cannot be told apart."),
    Rule("MT412", "overridden-setting", "warning", "A setting is shown that the variants replaced."),
    Rule("MT413", "misleading-measure", "warning", "A counter does not measure what its header says."),
    Rule("MT414", "misplaced-header", "warning", "A header stands over another thing than elsewhere."),
    Rule("MT415", "two-copies", "note", "One value is read from two copies in one pipeline."),
    Rule("MT416", "rows-by-chance", "warning", "Rows come out of a stage that gives them in no order."),
    Rule("MT417", "stored-order", "note", "Rows come in the order in which documents are stored."),
    Rule("MT418", "tied-rows", "note", "Two rows are equal in all that rows are sorted by."),
    Rule("MT419", "tie-at-limit", "warning", "A `$limit` cuts between two documents that sort alike."),
    Rule("MT420", "array-by-chance", "warning", "An array is shown whose elements come in no order."),
    Rule("MT421", "at-random", "warning", "A pipeline picks documents, or makes numbers, at random."),
    Rule(
        "MT424",
        "picked-by-chance",
        "warning",
        "What is shown goes by the place of documents that nothing has put in order.",
    ),
    Rule("MT425", "zone-without-dates", "warning", "A chart names a time zone and shows no dates."),
    Rule("MT426", "dates-as-names", "warning", "A chart shows texts of dates, out of their order."),
    Rule("MT427", "two-units", "warning", "A header names another unit than its column's format."),
    Rule("MT428", "texts-left-out", "warning", "A sum or a mean leaves out texts among the numbers."),
    Rule("MT429", "dates-not-to-scale", "warning", "A chart shows texts of dates at equal distances."),
    # MT5xx: untidiness
    Rule("MT430", "unsafe-link", "warning", "A row has an address that must not become a link."),
    Rule("MT431", "group-in-pieces", "warning", "Rows of one group stand apart, under two headings."),
    Rule("MT432", "failed-benchmark", "warning", "Figures are shown of a benchmark that failed."),
    Rule("MT433", "numbers-as-texts", "warning", "Texts that are numbers are compared as texts."),
    Rule("MT501", "unused-field", "note", "A field is computed or kept, and never used."),
    Rule("MT502", "carried-arrays", "note", "Whole arrays travel with every row and are not shown."),
    Rule("MT503", "header-blanks", "note", "A header has blanks at its ends, or two in a row."),
    Rule("MT504", "header-is-field-name", "note", "A header is the name of a field."),
    Rule("MT505", "carried-key", "note", "A key that is a document travels with every row and is not shown."),
    Rule("MT506", "uneven-rounding", "note", "A column is rounded differently in tables of one page."),
    Rule("MT507", "unused-ignore", "warning", "A comment ignores a rule that finds nothing in it."),
    Rule("MT508", "many-digits", "note", "A column shows more digits than anybody reads."),
    Rule("MT509", "unit-twice", "note", "A header and its column's format name one unit in two ways."),
)

RULES: dict[str, Rule] = {rule.id: rule for rule in _ALL}


def finding(rule: str, file: str, at: tuple[int, int], message: str, hint: str = "") -> Finding:
    """Give the finding of ``rule``, with its usual severity, at ``at`` = (line, column), counted from 1.

    (0, 0) means the file as a whole; a ``StandIn`` is told with the place that is meant. A ``KeyError`` is raised for a
    rule that is not in the table.
    """
    from mongo_tables.findings.finding import Finding, StandIn  # the help of a command does not pay for it

    related = (at.meant,) if isinstance(at, StandIn) else ()
    return Finding(file, at[0], at[1], rule, RULES[rule].severity, message, hint, related)
