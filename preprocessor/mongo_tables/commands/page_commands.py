"""The options of the commands that write and check pages.

To start quickly, the module imports nothing that does the work of a command.
"""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Final

from mongo_tables.commands.options import EXIT, SOURCE, SOURCES, add_options, whole_number
from mongo_tables.directives.keywords import KEYWORDS
from mongo_tables.directives.schemas import names
from mongo_tables.findings.reporters import REPORT_FORMATS, SEVERITIES

_CHECK: Final = (
    "Checks every RESULT_… and MONGO_… comment: its JSON, its keys, its pipeline, and, by running it on the results\n"
    "source, its rows. All faults of all files are listed, each with file, line and column."
)
_CHECK_EPILOG: Final = (
    f"{SOURCE}\n\n"
    "Examples:\n"
    "  mongo-tables check                              the pages of the site, else docs\n"
    "  mongo-tables check README.md --results bench.json\n"
    "  mongo-tables check --watch --numbers            while you write\n"
    "  mongo-tables check --numbers README.md llms.txt docs/*.rst --results bench.json\n"
    "                                                  texts without a single comment\n"
    "  mongo-tables check --numbers README.md --open-is-error --baseline numbers.json\n"
    "  mongo-tables check --format github --sarif check.sarif\n\n"
    "Exit status: 0 if no finding is as severe as --fail-on, 1 if one is, 2 after wrong usage, with nothing to check,\n"
    "or if results cannot be read. For status 2, standard error has the reason, and no report is written."
)


def _check(parser: ArgumentParser) -> None:
    parser.description, parser.epilog = _CHECK, _CHECK_EPILOG
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="pages or folders (default: the site's, else docs)",
    )
    parser.add_argument(
        "--watch",
        action="store_true",
        help="check again whenever a page, a shared pipeline, a results file or the site's file changes; press "
        "Ctrl-C to stop",
    )
    parser.add_argument(
        "--static", action="store_true", help="run no pipeline, so that no results source is needed"
    )
    parser.add_argument(
        "--numbers",
        action="store_true",
        help="also warn about open numbers (typed in a section with a table, but found in no table) and about stale "
        "numbers (the row and the column or unit that their sentence names now have a different value); PATH may "
        "also be MDX, reStructuredText, HTML, text or source code; a text without tables is compared with all results",
    )
    parser.add_argument(
        "--open-is-error",
        action="store_true",
        help="with --numbers: treat every open number as an error; mongo-tables.toml may exempt numbers, and "
        "--baseline accepts the current ones",
    )
    parser.add_argument(
        "--report",
        action="store_true",
        help="with --numbers: count bound, found, exempt and open numbers, list the open ones, and estimate how many "
        "match by chance; with --format json, print all numbers as JSON",
    )
    parser.add_argument(
        "--fix",
        action="store_true",
        help="show the changes that hints suggest in pages and shared pipelines, for example for mistyped names, for "
        "values pasted from a shell, or for a $sort after its $limit",
    )
    parser.add_argument(
        "--write",
        action="store_true",
        help="with --fix: write these changes, and list the remaining findings",
    )
    parser.add_argument(
        "--format", choices=REPORT_FORMATS, default="text", help="the format of findings (default: text)"
    )
    parser.add_argument(
        "--sarif", metavar="FILE", help="also write findings into FILE as SARIF, with any --format"
    )
    parser.add_argument(
        "--fail-on",
        choices=SEVERITIES,
        help="the lowest severity that makes the exit status 1 (default: `fail_on` of the site, else warning)",
    )
    parser.add_argument(
        "--baseline",
        metavar="FILE",
        help="a file of accepted findings, which are not listed and do not fail the check",
    )
    parser.add_argument(
        "--write-baseline",
        action="store_true",
        help="accept the current findings: write them to the baseline",
    )
    add_options(parser)


_RENDER: Final = (
    "Writes Markdown pages with their figures. Without an option, it prints the pages with tables and values in place\n"
    "of comments. With --in-place, it writes each table under its comment and each value after its comment, between\n"
    "two markers, so that GitHub shows them, and each chart into an SVG file next to the page. A second run changes\n"
    "nothing. If a page has an error, the command writes nothing."
)
_RENDER_EPILOG: Final = f"""\
{SOURCE}

Examples:
  mongo-tables render docs/speed.md                   one page with its tables, on standard output
  mongo-tables render docs --output rendered          all pages, into a folder
  mongo-tables render --in-place README.md            a README that a code host shows
  mongo-tables render --in-place --written            all pages with figures, after new results

{EXIT}"""


def _render(parser: ArgumentParser) -> None:
    parser.description, parser.epilog = _RENDER, _RENDER_EPILOG
    parser.add_argument("files", nargs="*", metavar="FILE", help="Markdown pages, or folders of them")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--output", metavar="DIR", help="write each page under DIR instead of standard output")
    where.add_argument(
        "--in-place",
        action="store_true",
        help="keep the comments, and write tables and values after them",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="with --in-place: show the changes without writing them, and exit with 1 if there are any",
    )
    parser.add_argument(
        "--written",
        action="store_true",
        help="with --in-place: also render all pages of the site that already have figures, and the README",
    )
    parser.add_argument("--force", action="store_true", help="with --in-place: overwrite manual edits")
    add_options(parser)


_EXPLAIN: Final = (
    "Runs the pipeline of a table stage by stage on the results source. It shows the documents before and after each\n"
    "stage, added and removed fields, the first rows, where values became null, which stage lost all rows, and why.\n"
    "For a rule, a comment or a key, it shows the meaning and an example."
)
_EXPLAIN_EPILOG: Final = f"""\
{SOURCE}

Examples:
  mongo-tables explain docs/speed.md                       every table and chart of a page
  mongo-tables explain docs/speed.md:12 --rows 10          the comment at line 12, with ten rows after each stage
  mongo-tables explain docs/speed.md:12 --cell 3 speed     the documents behind the cell in row 3 of that column
  mongo-tables explain MT411                               a rule, with an example
  mongo-tables explain RESULT_CHART                        the keys of a comment
  mongo-tables explain format.decimals                     a key

Exit status: 0 if every table has its rows and columns, 1 if a table lacks some, 2 after wrong usage or with nothing to
work with."""


def _explain(parser: ArgumentParser) -> None:
    parser.description, parser.epilog = _EXPLAIN, _EXPLAIN_EPILOG
    parser.add_argument(
        "place",
        metavar="FILE[:LINE]|RULE|KEY",
        help="FILE for all comments of a page, FILE:LINE for the comment nearest to this line, or the id of a rule, "
        "the keyword of a comment, or a key to explain",
    )
    parser.add_argument(
        "--rows",
        type=whole_number,
        default=3,
        metavar="N",
        help="documents shown after each stage (default: 3)",
    )
    parser.add_argument(
        "--cell",
        nargs=2,
        metavar=("ROW", "COLUMN"),
        help="show the documents, fields and stages from which this cell is computed; ROW is the number of the row or "
        "the text in its first column, COLUMN a name or a header",
    )
    add_options(parser)


_INIT: Final = (
    "Finds the results of a repository and writes a first set-up: the setting for these results, a table in README.md\n"
    "or on a page of the site, and the commit hook. It prints each change, and checks the result. It only adds lines\n"
    "to existing files, and prints lines that it cannot add safely. A second run adds nothing.\n"
    "\n"
    "With --table, it only writes the comment of a table for a collection, to standard output or at the end of a\n"
    "page."
)
_INIT_EPILOG: Final = f"""\
The results are the folder fixtures. If there is none, they are a file of a benchmark tool, or else a JSON, JSON Lines,
CSV or TSV file with several documents. Their setting is an entry for mongo-tables in mkdocs.yml, properdocs.yml or
zensical.toml or, without a site, the file mongo-tables.toml.

--table reads the collection from the results source.

{SOURCE}

Examples:
  mongo-tables init                                          set up this repository
  mongo-tables init --numbers                                which numbers can be checked against which results
  mongo-tables init --table results                          the first comment for a collection
  mongo-tables init --table results --append docs/speed.md   at the end of a page

Exit status: 0 if the set-up is written and the check has no findings, or if the comment is written; 1 if the check has
findings; 2 after wrong usage or with nothing to work with."""


def _init(parser: ArgumentParser) -> None:
    parser.description, parser.epilog = _INIT, _INIT_EPILOG
    parser.add_argument(
        "folder", nargs="?", default=".", metavar="FOLDER", help="the repository (default: .)"
    )
    add_options(parser, "--results")
    parser.add_argument(
        "--dry-run", action="store_true", help="show the changes as a diff without writing them"
    )
    parser.add_argument(
        "--numbers",
        action="store_true",
        help="write no file; print how many numbers in README files, documentation and llms.txt are in each file of "
        "results, and how to check them",
    )
    comment = parser.add_argument_group("a comment alone")
    comment.add_argument(
        "--table",
        nargs="?",
        const="",
        metavar="COLLECTION",
        help="write the comment of a table for this collection (default: the only collection)",
    )
    comment.add_argument("--append", metavar="PAGE", help="write the comment at the end of this page")
    add_options(comment, "--limit", "--config-file")
    # A set-up finds the site itself, because it may have to write the site's file.
    parser.set_defaults(site_only=True)


_IMPORT: Final = (
    "Reads result files of benchmark tools and stores them in a fixture folder, one document for each measure of each\n"
    "benchmark. It reads files of pytest-benchmark, hyperfine, Go, JMH and the other tools that the guide lists. A\n"
    "page may also read such a file as it is: `results: bench.json`."
)
_IMPORT_EPILOG: Final = """\
The collection then contains exactly the benchmarks of the files. A benchmark in two files is an error: store runs in
different folders, for `mongo-tables history`, or in different commits. With --reference, each file is one block of runs
of the same benchmarks: each measured time or speed is compared with that of the benchmark NAME in its suite, and gets
a `comparison` with a verdict.

Examples:
  mongo-tables import bench.json --as bench                       into the site's fixture folder, else fixtures/
  mongo-tables import go.txt --as bench --date 2026-01-31 --commit 1a2b3c4
  mongo-tables import bench.json --as bench --results fixtures/campaigns/2026-01-31
  mongo-tables import bench.json --as bench --without-samples     a small file, to commit
  mongo-tables import run-*.json --as bench --reference ./old     twenty runs of hyperfine ./old ./new

Exit status: 0 if the files are stored or nothing changes, 2 after wrong usage or if a file cannot be read.
"""


def _import(parser: ArgumentParser) -> None:
    parser.description, parser.epilog = _IMPORT, _IMPORT_EPILOG
    parser.add_argument("files", metavar="FILE", nargs="+", help="a file that a benchmark tool wrote")
    parser.add_argument("--as", dest="name", metavar="NAME", required=True, help="the collection")
    parser.add_argument(
        "--results",
        dest="folder",
        metavar="FOLDER",
        help="fixture folder (default: the site's, else fixtures)",
    )
    parser.add_argument(
        "--date",
        type=_date,
        help="the date of the measurement for files without a date: 2026-01-31, or a date with a time",
    )
    parser.add_argument("--commit", metavar="ID", help="the measured commit for files that name no commit")
    parser.add_argument(
        "--reference",
        metavar="NAME",
        help="compare all benchmarks with the benchmark NAME; each file is one of several alternating runs of the "
        "same benchmarks",
    )
    parser.add_argument(
        "--without-samples",
        action="store_true",
        help="keep only summary figures, without the time of every round that files of pytest-benchmark contain",
    )
    parser.add_argument("--dry-run", action="store_true", help="print the changes without writing them")
    add_options(parser, "--config-file")


def _date(text: str) -> datetime:
    """Parse a date, in UTC if it has no time zone. Raises the error that argparse shows."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(
            f"must be a date such as 2026-01-31 or 2026-01-31T12:00:00Z, not {text!r}"
        ) from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


_DIFF: Final = (
    "Compares the tables of pages between two results sources or two checkouts. It lists changed cells, rows and\n"
    "tables that were added or removed, and differences in the measurement. Rows are matched by the first column and\n"
    "as few others as necessary. In a GitHub Actions job for a pull request, OLD defaults to its base, NEW to this\n"
    "checkout."
)
_DIFF_EPILOG: Final = (
    "OLD and NEW are two checkouts (folders with the file of a site, or REVISION:. for a revision of Git), or two\n"
    "results sources:\n"
    f"{SOURCES}\n\n"
    "--report reads the variables that GitHub Actions sets.\n\n"
    "Examples:\n"
    "  mongo-tables diff HEAD:fixtures fixtures                     what a commit of these files would change\n"
    "  mongo-tables diff --format markdown origin/main:. .          what this branch changes, to paste\n\n"
    "Exit status: 0 if nothing changed, 1 if something changed, 2 after wrong usage or with nothing to work with."
)


def _diff(parser: ArgumentParser) -> None:
    parser.description, parser.epilog = _DIFF, _DIFF_EPILOG
    parser.add_argument("old", nargs="?", metavar="OLD", help="results source or checkout; see below")
    parser.add_argument(
        "new", nargs="?", metavar="NEW", help="the results source or checkout to compare with OLD"
    )
    parser.add_argument(
        "pages",
        nargs="*",
        default=[],
        metavar="PAGE",
        help="pages or folders (default: the site's, else docs)",
    )
    add_options(parser, "--limit", "--pipelines", "--config-file")
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--format",
        choices=("text", "json", "markdown"),
        default="text",
        help="the output format: text, Markdown for a code host, or JSON with all details (default: text)",
    )
    form.add_argument(
        "--report",
        metavar="FOLDER",
        help="write FOLDER/changes.md and FOLDER/changes.json, and extend the summary of the GitHub Actions job",
    )


_DEPS: Final = (
    "Lists the files that each page depends on: files of results, shared pipelines, included files, pages whose\n"
    "tables the page quotes, and the site's file with the files that it inherits from. It runs no pipeline."
)
_DEPS_EPILOG: Final = f"""\
{SOURCE}

Examples:
  mongo-tables deps docs/speed.md
  mongo-tables deps --json | jq '.pages[].files'

{EXIT}"""


def _deps(parser: ArgumentParser) -> None:
    parser.description, parser.epilog = _DEPS, _DEPS_EPILOG
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="pages or folders (default: the site's, else docs)"
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="print JSON: pages, figures with their collections, and files with digests",
    )
    add_options(parser)


_SCHEMA: Final = "Prints the JSON Schema of a comment. Editors use it for completion."
_SCHEMA_EPILOG: Final = f"""\
Examples:
  mongo-tables schema > table.schema.json
  mongo-tables schema RESULT_CHART

{EXIT}"""


def _schema(parser: ArgumentParser) -> None:
    parser.description, parser.epilog = _SCHEMA, _SCHEMA_EPILOG
    parser.add_argument(
        "name",
        nargs="?",
        default="table",
        type=lambda name: KEYWORDS.get(name, name),
        choices=names(),
        help="the schema, or the keyword of a comment (default: table)",
    )


_LSP: Final = (
    "Serves an editor over the Language Server Protocol, for Markdown pages and shared pipelines\n"
    "(docs/pipelines/*.json). The editor starts it and uses its standard input and output. While you type, it reports\n"
    "the findings of `check`, and completes keys, stages, operators and the names of fields."
)
_LSP_EPILOG: Final = f"""\
{SOURCE}

It queries a mongodb:// source only with --database; otherwise it checks pages as `check --static` does. It never runs
plugins or hooks of the site.

Example, for Neovim:
  vim.lsp.config("mongo_tables", {{cmd = {{"mongo-tables", "lsp"}}, filetypes = {{"markdown", "mdx", "json"}},
                                  root_markers = {{"mkdocs.yml", "mongo-tables.toml", ".git"}}}})
  vim.lsp.enable("mongo_tables")

Exit status: 0 if the editor ended the session, 1 if the editor is gone, 2 after wrong usage or if the extra [lsp] is
missing."""


def _lsp(parser: ArgumentParser) -> None:
    parser.description, parser.epilog = _LSP, _LSP_EPILOG
    parser.add_argument(
        "--stdio", action="store_true", help="no effect; accepted because some editors add it"
    )
    parser.add_argument(
        "--database", action="store_true", help="also query a mongodb:// source, each time a pipeline changes"
    )
    add_options(parser, "--results", "--limit")
    # There is no default, because the site is only known when the editor has named its folder.
    parser.add_argument(
        "-f",
        "--config-file",
        dest="site_file",
        metavar="FILE",
        help="configuration file of the site (default: mkdocs.yml, properdocs.yml or zensical.toml in its folder)",
    )


_COMPLETION: Final = (
    "Prints a script for a shell. With it, the shell completes commands, options, choices and files."
)
_COMPLETION_EPILOG: Final = """\
Examples:
  bash   mongo-tables completion bash > ~/.local/share/bash-completion/completions/mongo-tables
  zsh    mongo-tables completion zsh > _mongo-tables, in a folder of $fpath
  fish   mongo-tables completion fish > ~/.config/fish/completions/mongo-tables.fish

Exit status: 0 if the script is printed, 2 after wrong usage."""


def _completion(parser: ArgumentParser) -> None:
    parser.description, parser.epilog = _COMPLETION, _COMPLETION_EPILOG
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="the shell")


DECLARATIONS: Final[Mapping[str, Callable[[ArgumentParser], None]]] = {
    "check": _check,
    "render": _render,
    "explain": _explain,
    "init": _init,
    "import": _import,
    "diff": _diff,
    "deps": _deps,
    "schema": _schema,
    "lsp": _lsp,
    "completion": _completion,
}
"""For each command, the function that adds its description, examples and options to its parser."""
