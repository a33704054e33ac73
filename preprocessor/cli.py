"""The command line, thin: what can be asked, and which module does it.

Exit status: 0 nothing to complain about, 1 findings, 2 wrong usage or an environment that does not work (no server,
unreadable file). Commands are imported when they are called, so that ``mongo-tables check`` starts at once.
"""

from __future__ import annotations

import _thread
import argparse
import errno
import io
import os
import re
import signal
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from preprocessor import __version__
from preprocessor.files.environment import RESULTS_VARIABLE
from preprocessor.findings.usage import UsageError, print_error
from preprocessor.results.opening import listed_kinds, named_kinds
from preprocessor.schemas.loading import names

_DESCRIPTION = """\
Tables in Markdown that come from MongoDB aggregation pipelines.

A page says <!-- MONGO_TABLE: {"collection": …, "pipeline": […], "columns": […], "headers": […]} -->
and the table is made when the page is rendered, from a database or from fixture files."""

_SOURCE = f"""\
results source (--results, else the variable {RESULTS_VARIABLE}, else `results` in mkdocs.yml, properdocs.yml or
zensical.toml, else the folder fixtures/):
{listed_kinds()}"""

_SOURCES_LISTED = listed_kinds([("REVISION:FOLDER", "fixture files of a Git revision: HEAD~1:fixtures")])

_EXIT = "exit status: 0 clean, 1 findings, 2 wrong usage or nothing to work with"

_CHECK_EXIT = (
    "exit status: 0 no finding, or none as grave as --fail-on; 1 findings as grave, or graver;\n"
    "2 wrong usage or nothing to work with"
)


_MOMENT = 0.01
"""Seconds after which an interrupt that could not be raised is tried again."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; gives the exit status. Without ``argv`` as the program itself, with the process's arguments.

    The program says one line when it is interrupted, and no word of it once its work is done.
    """
    if argv is not None:
        return _status(list(argv))
    try:
        _prepare_process()
        return _status(sys.argv[1:])
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        return _complain("interrupted", 130)
    finally:
        # The interpreter takes a while to end: an interrupt then just ends it.
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def _prepare_process() -> None:
    """What a process may lack: streams that were closed when it began, a way for an interrupt out of a callback.

    A terminal without some character, such as an arrow, shows a question mark.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115 - for as long as the process
    if sys.stdin is None:
        sys.stdin = Path(os.devnull).open()  # noqa: SIM115
    usual = sys.unraisablehook

    def hook(unraisable: sys.UnraisableHookArgs) -> None:
        if isinstance(unraisable.exc_value, KeyboardInterrupt):
            # It came where nothing can be raised, such as in a weak reference's callback, nor here.
            _thread.start_new_thread(_interrupt_soon, ())
        else:
            usual(unraisable)

    sys.unraisablehook = hook


def _interrupt_soon() -> None:
    time.sleep(_MOMENT)
    os.kill(os.getpid(), signal.SIGINT)  # Unlike ``interrupt_main`` it wakes a thread that waits.


def _status(arguments: Sequence[str]) -> int:
    if sys.stdout is None:
        return _complain("standard output is closed", 2)
    try:
        only = arguments[0] if arguments and arguments[0] in _COMMANDS else None
        given = parser(only).parse_args(arguments)
        if "config_file" in given:
            import_module("preprocessor.pages.siteconfig").fill_in(given)
        status: int = import_module(given.module).run(given)
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()  # Whoever read us has enough: not a fault.
        return 0
    except Exception as error:
        return _failed(error)
    return status


def _drop_output() -> None:
    """Nothing more can be said on standard output: what is left of it goes nowhere, without a complaint at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _failed(error: Exception) -> int:
    """One line for what the user can mend; a defect of ours keeps its traceback, for the report."""
    _raise_interrupt(error)
    # Only who failed pays for these: `--version`, `schema` and `completion` need no page and no results.
    from preprocessor.findings.reporters import report
    from preprocessor.pages.reading import source_findings
    from preprocessor.results.model import ResultsError

    if isinstance(error, ResultsError) and error.faults:
        print(report(source_findings(error, "fixtures"), "text"), end="", file=sys.stderr)
        return 2
    if isinstance(error, UsageError | ResultsError):
        return _complain(error.message, 2, error.hint)
    if isinstance(error, MemoryError):
        from traceback import clear_frames

        clear_frames(error.__traceback__)  # What filled the memory stands in them.
        return _complain("the memory of this machine, or what it allows, is not enough", 2)
    if isinstance(error, OSError):
        # A file that cannot be written is named (``preprocessor.files.atomic``); a stream has no name.
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EBADF) and not error.filename
        if full:
            _drop_output()
        place = error.filename or ("standard output" if full else "file")
        return _complain(f"{place}: {error.strerror or error}", 2)
    raise error


def _raise_interrupt(error: BaseException | None) -> None:
    """Raises the KeyboardInterrupt that an error came from: Python makes another error of one in ``__set_name__``."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            raise error
        error = error.__cause__ or error.__context__


def _complain(message: str, status: int, hint: str = "") -> int:
    print_error(message, hint)
    return status


class _Parser(argparse.ArgumentParser):
    """A parser that says which command or option a mistyped one is nearest to."""

    def error(self, message: str) -> NoReturn:
        """End with the usage, the message and, where there is one, the nearest word that is known."""
        hint = self._nearest(message)
        super().error(f"{message}\n  hint: {hint}" if hint else message)

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """As ``argparse`` does; what a command does not have is told by the command itself, which knows its own."""
        given, unknown = super().parse_known_args(args, namespace)
        if unknown and self._subparsers is None:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return given, unknown

    def _nearest(self, message: str) -> str:
        from preprocessor.schemas.validation import did_you_mean  # only who mistyped pays for it

        if found := _MISTYPED_OPTION.search(message):
            return did_you_mean(found[1], self._option_string_actions)
        found = _MISTYPED_CHOICE.search(message)
        return did_you_mean(found[1], _QUOTED.findall(found[2]) or found[2].split(", ")) if found else ""


_MISTYPED_OPTION = re.compile(r"^unrecognized arguments: (?:[^-]\S* )*(--?[\w-]+)")
_MISTYPED_CHOICE = re.compile(r"invalid choice: '([^']*)' \(choose from (.*)\)")
_QUOTED = re.compile(r"'([^']+)'")


def parser(only: str | None = None) -> argparse.ArgumentParser:
    """The parser of all commands; each sets ``module``, the one whose ``run(arguments)`` does the work.

    ``only``: the one command that is called. To declare all the others is a tenth of a check's time.
    """
    top: argparse.ArgumentParser = _Parser(
        prog="mongo-tables", description=_DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    top.add_argument("--version", action="version", version=f"mongo-tables {__version__}")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, declare in _COMMANDS.items():
        if only in (None, name):
            declare(commands)
    return top


if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]


def _command(
    commands: Commands, name: str, summary: str, description: str, module: str, epilog: str = _EXIT
) -> argparse.ArgumentParser:
    command = commands.add_parser(
        name,
        help=summary,
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.set_defaults(module=module)
    return command


def _check(commands: Commands) -> None:
    command = _command(
        commands,
        "check",
        "find what is wrong with the comments of pages",
        "Checks every MONGO_… comment: its JSON, its keys, its pipeline, and, by running it on the results\n"
        "source, its rows. All faults of all files are listed, each with file, line and column.",
        "preprocessor.commands.check",
        f"{_SOURCE}\n\n{_CHECK_EXIT}",
    )
    command.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="pages or folders (default: the site's, else docs); - is a page on standard input",
    )
    command.add_argument(
        "--stdin-filename",
        metavar="PATH",
        help="where the page on standard input belongs, for editors: findings name it, and the file there is not read",
    )
    command.add_argument("--static", action="store_true", help="run no pipeline, need no results source")
    command.add_argument(
        "--prose",
        action="store_true",
        help="also warn of figures in sentences that no row of their section's tables supports",
    )
    command.add_argument(
        "--format",
        choices=("text", "json", "github", "sarif"),
        default="text",
        help="how findings are written (default: text)",
    )
    command.add_argument(
        "--fail-on",
        choices=("error", "warning", "note"),
        help="the least grave finding that makes the exit status 1 (default: `fail_on` of the site, else warning)",
    )
    _baseline_options(command)
    _source_options(command)


def _baseline_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--baseline", metavar="FILE", help="findings that are accepted: only others are listed and fail"
    )
    command.add_argument(
        "--write-baseline", action="store_true", help="accept today's findings: write them to the baseline"
    )


def _explain(commands: Commands) -> None:
    command = _command(
        commands,
        "explain",
        "show what a pipeline does, stage by stage",
        "Runs the pipeline of a table stage by stage on the results source: documents in and out, fields that\n"
        "come and go, the first rows, where a value became null, which stage lost all rows, and why.",
        "preprocessor.commands.explain.command",
        f"{_SOURCE}\n\nexit status: 0 every table has its rows and columns, 1 one has not, "
        "2 wrong usage or nothing to work with",
    )
    command.add_argument(
        "place",
        metavar="FILE[:LINE]",
        help="a page; with a line, the comment that it stands in or is nearest to",
    )
    command.add_argument(
        "--rows",
        type=whole_number,
        default=3,
        metavar="N",
        help="documents shown after each stage (default: 3)",
    )
    command.add_argument("--json", action="store_true", help="everything as JSON, for tools")
    _source_options(command)


def _new(commands: Commands) -> None:
    command = _command(
        commands,
        "new",
        "write the first comment for a collection",
        "Looks at the documents of a collection and writes a comment that shows them as a table: to standard\n"
        "output, or at the end of a page. On a terminal it asks for what no option says.",
        "preprocessor.commands.new.command",
        f"{_SOURCE}\n\nexit status: 0 written, 2 wrong usage or nothing to work with",
    )
    command.add_argument("collection", nargs="?", metavar="COLLECTION", help="default: the only one there is")
    command.add_argument(
        "--where", action="append", metavar="FIELD=VALUE", help="only documents with this value (repeatable)"
    )
    command.add_argument("--columns", metavar="FIELDS", help="fields to show, with commas: _id.threads,qps")
    command.add_argument("--headers", metavar="TEXTS", help="what readers see above them, with commas")
    command.add_argument(
        "--sort", metavar="FIELDS", help="the columns to sort by (default: the first, then those of _id)"
    )
    command.add_argument("--title", metavar="TEXT", help="a title above the table")
    command.add_argument("--append", metavar="PAGE", help="write the comment at the end of this page")
    _results_option(command)


def whole_number(text: str) -> int:
    """A number of rows, from 0; argparse names this function when it complains."""
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError("a whole number from 0")
    return number


def _render(commands: Commands) -> None:
    command = _command(
        commands,
        "render",
        "write pages with their tables",
        "Puts the tables into Markdown pages. Without an option the result goes to standard output, with the\n"
        "comments replaced by pipe tables. With --in-place each table is written under its comment, between two\n"
        "markers, so that GitHub shows it; a second run changes nothing.\n"
        "Nothing at all is written when a page has an error.",
        "preprocessor.commands.render",
        f"{_SOURCE}\n\n{_EXIT}",
    )
    command.add_argument("files", nargs="+", metavar="FILE", help="Markdown pages, or folders of them")
    where = command.add_mutually_exclusive_group()
    where.add_argument("--output", metavar="DIR", help="write each page under DIR instead of standard output")
    where.add_argument(
        "--in-place", action="store_true", help="keep the comments, write the tables under them"
    )
    command.add_argument(
        "--check",
        action="store_true",
        help="with --in-place: write nothing, show what would change, exit 1 if anything",
    )
    command.add_argument(
        "--force", action="store_true", help="with --in-place: overwrite tables that were edited by hand"
    )
    _source_options(command)


def _schema(commands: Commands) -> None:
    command = _command(
        commands,
        "schema",
        "print the JSON Schema of a comment",
        "Prints the JSON Schema that comments are validated against; editors complete from it.",
        "preprocessor.commands.schema",
    )
    command.add_argument(
        "name",
        nargs="?",
        default="table",
        choices=names(),
        help="which one (default: table)",
    )


_PULL_EPILOG = (
    f"SOURCE:\n{_SOURCES_LISTED}\n\n"
    "examples:\n"
    "  mongo-tables pull mongodb://HOST/DATABASE             what the pages read, into fixtures/\n"
    "  mongo-tables pull mongodb://HOST/DATABASE --prune     of that, only the fields that they read\n"
    "  mongo-tables pull v1:fixtures results --as v1         results as they were at the tag v1\n"
    "  mongo-tables pull v1:fixtures results --pipeline brief --as v1\n"
    "                                                        what docs/pipelines/brief.json makes of them\n\n"
    "In a pipeline, $$revision is the revision that last changed REVISION:FOLDER; null for other sources.\n\n"
    "exit status: 0 copied, or nothing to change, 2 wrong usage or nothing to work with"
)


def _pull(commands: Commands) -> None:
    command = _command(
        commands,
        "pull",
        "copy result documents into fixtures",
        "Copies collections from a results source into a fixture folder, in an order and notation that do not\n"
        "change from run to run, and says which documents were added, changed and removed. With a pipeline their\n"
        "documents go through it first: so the rows of an earlier revision, or of another machine, become a\n"
        "collection of their own, beside which pages can set today's.",
        "preprocessor.commands.pull",
        _PULL_EPILOG,
    )
    command.add_argument("source", metavar="SOURCE", help="where the documents are, see below")
    command.add_argument(
        "collections", nargs="*", metavar="COLLECTION", help="default: those that the pages read"
    )
    command.add_argument("--to", metavar="DIR", help="fixture folder (default: the site's, else fixtures)")
    command.add_argument(
        "--pipeline", metavar="NAME", help="a shared pipeline that the documents of one collection go through"
    )
    command.add_argument(
        "--as",
        dest="name",
        metavar="COLLECTION",
        help="what the one collection is called in the fixture folder",
    )
    _wanted_options(command)
    command.add_argument("--dry-run", action="store_true", help="say what would change, write nothing")
    _limit_option(command)


def _wanted_options(command: argparse.ArgumentParser) -> None:
    """From which pages it follows what is wanted."""
    command.add_argument(
        "--docs",
        action="append",
        metavar="PATH",
        help="pages that are looked at (default: the site's, else docs)",
    )
    _pipelines_options(command)
    command.add_argument(
        "--prune", action="store_true", help="keep only the fields that the pages' pipelines read"
    )


def _diff(commands: Commands) -> None:
    command = _command(
        commands,
        "diff",
        "list what changed in the tables",
        "Lists every cell of the pages' tables that is not the same with two results sources, or in two built\n"
        "sites: page, line, table, row, column, old and new value, their ratio. Rows, columns and tables that came\n"
        "or went are listed too, and what was measured otherwise: server, machine, scale, the experiment itself.\n"
        "Rows belong together by what tells them apart: --key, or as few columns as it takes, the first among them;\n"
        "in charts the horizontal axis and the series. Where nothing tells rows apart, this is said.",
        "preprocessor.commands.diff.command",
        "OLD and NEW, two built sites or each one of:\n"
        f"{_SOURCES_LISTED}\n\n"
        "exit status: 0 nothing changed, 1 something did, 2 wrong usage or nothing to work with",
    )
    command.add_argument("old", metavar="OLD", help="results source or built site, see below")
    command.add_argument("new", metavar="NEW", help="the other one")
    command.add_argument(
        "pages",
        nargs="*",
        default=[],
        metavar="PAGE",
        help="pages or folders (default: the site's, else docs)",
    )
    command.add_argument("--key", metavar="COLUMNS", help="name rows by these columns, with commas")
    _limit_option(command)
    _pipelines_options(command)
    form = command.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="everything as one JSON document")
    form.add_argument("--markdown", action="store_true", help="as a part of a page of changes")


def _completion(commands: Commands) -> None:
    command = _command(
        commands,
        "completion",
        "print what makes a shell complete commands and options",
        "Prints a script for a shell, which then completes commands, options, their choices, and files.",
        "preprocessor.commands.completion",
        "examples:\n"
        "  bash   mongo-tables completion bash > ~/.local/share/bash-completion/completions/mongo-tables\n"
        "  zsh    mongo-tables completion zsh > _mongo-tables, in a folder of $fpath\n"
        "  fish   mongo-tables completion fish > ~/.config/fish/completions/mongo-tables.fish\n\n"
        "exit status: 0 printed, 2 wrong usage",
    )
    command.set_defaults(parser=parser)
    command.add_argument("shell", choices=("bash", "zsh", "fish"), help="which shell")


_RUNNER = (
    ("run", "measure experiments and write result documents", "preprocessor.commands.run"),
    ("experiments", "list the experiments", "preprocessor.commands.experiments"),
    (
        "compare",
        "compare two sets of rows that run wrote; for any others: diff",
        "preprocessor.commands.compare",
    ),
)


def _runner(name: str, summary: str, module: str, commands: Commands) -> None:
    """The runner declares its own arguments: it is a program of its own that shares the name."""
    command = commands.add_parser(name, help=summary)
    command.set_defaults(module=module)
    import_module(module).add_arguments(command)


def _source_options(command: argparse.ArgumentParser) -> None:
    _results_option(command, config_file=False)
    _pipelines_options(command)


def _results_option(command: argparse.ArgumentParser, *, config_file: bool = True) -> None:
    command.add_argument("--results", metavar="SOURCE", help=f"{named_kinds()}, see below")
    _limit_option(command)
    if config_file:
        _config_file_option(command)


def _limit_option(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--limit",
        action="append",
        metavar="NAME=NUMBER",
        help="what a pipeline may cost, before the options NAME_limit of the site: processor=60 (seconds, on files), "
        "memory=1024 (MiB of a stage), document=16 (MiB), step=200000 (of a regular expression), time=10 (seconds, on "
        "a server), connect=2, row=10000",
    )


def _pipelines_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--pipelines", metavar="DIR", help="shared pipelines (default: the site's, else docs/pipelines)"
    )
    _config_file_option(command)


def _config_file_option(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "-f",
        "--config-file",
        metavar="FILE",
        help="what the site is built from (default: the next mkdocs.yml, properdocs.yml or zensical.toml, here or "
        "above)",
    )


_COMMANDS: dict[str, Callable[[Commands], None]] = {
    "check": _check,
    "explain": _explain,
    "new": _new,
    "render": _render,
    "schema": _schema,
    "pull": _pull,
    "diff": _diff,
    "completion": _completion,
    **{name: partial(_runner, name, summary, module) for name, summary, module in _RUNNER},
}


if __name__ == "__main__":
    sys.exit(main())
