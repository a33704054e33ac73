"""The command line: the commands, and the exit status.

Exit status: 0 no findings, 1 findings, 2 wrong usage or a failing environment (no server, unreadable file). To start
quickly, the program imports only the called command, and the command's work only after the arguments are parsed.
"""

from __future__ import annotations

import _thread
import argparse
import errno
import io
import os
import signal
import sys
import time
from collections.abc import Container, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Final, NamedTuple

from mongo_tables import __version__
from mongo_tables.commands.parser import HintingParser
from mongo_tables.findings.usage import CommandError, print_error, print_failure, require_extra

_DESCRIPTION = """\
Tables in Markdown that come from results files or from MongoDB.

A page says <!-- RESULT_TABLE: {"collection": "bench", "columns": ["name", "mean"], "sort": "-mean"} -->
and the table is made when the page is rendered; a "pipeline" computes values that the documents do not contain."""

_EPILOG = """\
Examples:
  mongo-tables init                       set up a repository: results, a first table, the commit hook
  mongo-tables check                      find the faults of all pages
  mongo-tables explain docs/speed.md:12   see what the pipeline of a comment does
  mongo-tables render --in-place README.md

`mongo-tables COMMAND --help` explains a command, with examples."""


class Command(NamedTuple):
    """A command: its summary in the program's help, its module, and the extra that it needs.

    The module has ``run(arguments)``, which does the work and returns the exit status.
    """

    summary: str
    module: str
    extra: str = ""


class CommandGroup(NamedTuple):
    """Commands of one section of the program's help, and the module of ``commands`` that declares their options."""

    declared_by: str
    commands: Mapping[str, Command]


GROUPS: Final = {
    "write and check": CommandGroup(
        "page_commands",
        {
            "check": Command("find the faults of comments in pages", "commands.check"),
            "render": Command("write pages with their tables", "commands.render"),
            "explain": Command("show what a pipeline does, stage by stage", "commands.explain"),
            "init": Command("write the first set-up of a repository, or a first comment", "commands.init"),
            "import": Command("store results of benchmark tools as fixtures", "commands.import_"),
            "diff": Command("list what changed in the tables", "commands.diff"),
            "deps": Command("list the files that each page depends on", "commands.deps"),
            "schema": Command("print the JSON Schema of a comment", "commands.schema"),
            "lsp": Command("start a language server for editors", "lsp", extra="lsp"),
            "completion": Command(
                "print a script that completes commands and options", "commands.completion"
            ),
        },
    ),
    "results": CommandGroup(
        "result_commands",
        {
            "pull": Command("copy result documents into fixtures", "commands.pull"),
            "push": Command("copy fixtures into a results database", "commands.push"),
        },
    ),
    "measure": CommandGroup(
        "measure_commands",
        {
            "run": Command("measure experiments and write result documents", "commands.run", extra="runner"),
            "experiments": Command("list the experiments", "commands.experiments"),
            "calibrate": Command(
                "measure how often equal work is reported as different", "commands.calibrate", extra="runner"
            ),
            "compare": Command(
                "compare rows written by `run` (for other rows, use `diff`)", "commands.compare"
            ),
            "history": Command("show speeds over campaigns, and where they changed", "commands.history"),
        },
    ),
}
"""The groups by their titles in the program's help."""

COMMANDS: Final = {name: command for group in GROUPS.values() for name, command in group.commands.items()}

_MOMENT = 0.01
"""Seconds between an interrupt that Python could not raise and the next attempt to raise it."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status. Without ``argv``, use the arguments of the process.

    An interrupt prints one line, or nothing if the command has finished its work.
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
        # While the interpreter exits, an interrupt must not call our handlers.
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def _prepare_process() -> None:
    """Open closed standard streams as the null device, and handle interrupts in callbacks.

    The program prints a question mark for a character that the terminal cannot show, such as an arrow.
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
            # Python ignores exceptions in some callbacks, such as those of weak references.
            _thread.start_new_thread(_interrupt_soon, ())
        else:
            usual(unraisable)

    sys.unraisablehook = hook


def _interrupt_soon() -> None:
    time.sleep(_MOMENT)
    if signal.getsignal(signal.SIGINT) != signal.SIG_DFL:  # ``main`` sets the default handler at its end.
        os.kill(os.getpid(), signal.SIGINT)  # Unlike ``interrupt_main`` it wakes a waiting thread.


def _status(arguments: Sequence[str]) -> int:
    if sys.stdout is None:
        return _complain("standard output is closed", 2)
    given = argparse.Namespace()
    try:
        if not arguments:
            build_parser(declare=False).print_help()
            return 2
        # Declaring all commands takes longer than most checks.
        is_known = arguments[0] in COMMANDS
        parser = build_parser(arguments[:1] if is_known else COMMANDS, declare=is_known)
        given = parser.parse_args(arguments)
        status: int = given.run(given)
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()  # The reader closed the pipe, which is no fault.
        return 0
    except Exception as error:
        return _report_failure(error, getattr(given, "named_by", ""))
    return status


def _run(name: str, given: argparse.Namespace) -> int:
    """Do the work of a command. If it has the option ``--config-file``, the site's file gives defaults."""
    command = COMMANDS[name]
    if command.extra:
        require_extra(name, command.extra)
    if "config_file" in given and not getattr(given, "site_only", False):
        from mongo_tables.site.site_config import fill_in  # not for `--help` or `--version`

        given.as_written = argparse.Namespace(**vars(given))
        fill_in(given)
    status: int = import_module(f"mongo_tables.{command.module}").run(given)
    return status


def _drop_output() -> None:
    """Discard further output, so that Python reports no error when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _report_failure(error: Exception, named_by: str) -> int:
    """Print one line for an error that the user can fix. Raise other errors again, because they are bugs.

    ``named_by`` is the setting that names the results source.
    """
    _raise_interrupt(error)
    if isinstance(error, CommandError):
        if named_by and getattr(error, "environment", False):
            error.message += f", which {named_by} names"
        return print_failure(error)
    if isinstance(error, MemoryError):
        from traceback import clear_frames

        clear_frames(error.__traceback__)  # The frames hold the data that filled the memory.
        return _complain("not enough memory", 2)
    if isinstance(error, OSError):
        # Errors of files have a file name, errors of streams have none.
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EBADF) and not error.filename
        if full:
            _drop_output()
        place = error.filename or ("standard output" if full else "file")
        return _complain(f"{place}: {error.strerror or error}", 2)
    raise error


def _raise_interrupt(error: BaseException | None) -> None:
    """If a KeyboardInterrupt caused the error, raise it.

    Python 3.11 wraps an interrupt that occurs in ``__set_name__`` in another error.
    """
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            raise error
        error = error.__cause__ or error.__context__


def _complain(message: str, status: int) -> int:
    print_error(message)
    return status


class _Program(HintingParser):
    """The parser of the program, whose help lists the commands in groups."""

    def format_help(self) -> str:
        """Return usage, description, options, and each group of commands."""
        formatter = self._get_formatter()
        formatter.add_usage(self.usage, self._actions, [])
        formatter.add_text(self.description)
        sections = {"options": self._optionals._group_actions}
        (commands,) = (one for one in self._actions if isinstance(one, argparse._SubParsersAction))
        for title, group in GROUPS.items():
            sections[title] = [one for one in commands._choices_actions if one.dest in group.commands]
        for title, actions in sections.items():
            formatter.start_section(title)
            formatter.add_arguments(actions)
            formatter.end_section()
        formatter.add_text(self.epilog)
        return formatter.format_help()


def build_parser(names: Container[str] = COMMANDS, *, declare: bool = True) -> argparse.ArgumentParser:
    """Return the parser of the commands ``names``.

    The arguments that the parser returns have a function ``run``, which executes the command and returns the exit
    status. If ``declare`` is false, commands have no arguments, and none of them is imported.
    """
    top = _Program(
        prog="mongo-tables",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"mongo-tables {__version__}")
    top.set_defaults(build_parser=build_parser)
    commands = top.add_subparsers(
        title="commands", metavar="COMMAND", required=True, parser_class=HintingParser
    )
    for group in GROUPS.values():
        for name in group.commands:
            if name not in names:
                continue
            command = commands.add_parser(
                name,
                help=group.commands[name].summary,
                formatter_class=argparse.RawDescriptionHelpFormatter,
            )
            if declare:
                command.set_defaults(run=partial(_run, name), build_parser=build_parser)
                import_module(f"mongo_tables.commands.{group.declared_by}").DECLARATIONS[name](command)
    return top


if __name__ == "__main__":
    sys.exit(main())
