"""The command line: which commands there are, and how the program ends.

Exit status: 0 nothing to complain about, 1 findings, 2 wrong usage or an environment that does not work (no server,
unreadable file). Commands are imported when they are called, so that ``mongo-tables check`` starts at once.
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
from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Final, NamedTuple

from mongo_tables import __version__
from mongo_tables.commands.parser import HintingParser
from mongo_tables.findings.usage import CommandError, print_error, print_failure

_DESCRIPTION = """\
Tables in Markdown that come from files of results, or from MongoDB.

A page says <!-- RESULT_TABLE: {"collection": "bench", "columns": ["name", "mean"], "sort": "-mean"} -->
and the table is made when the page is rendered; a "pipeline" computes what the documents do not have."""

_EPILOG = """\
examples:
  mongo-tables init                       set up a repository: results, a first table, the commit hook
  mongo-tables check                      find the faults of all pages
  mongo-tables explain docs/speed.md:12   see what the pipeline of a comment does
  mongo-tables render --in-place README.md

`mongo-tables COMMAND --help` says more of a command, with examples."""


class Command(NamedTuple):
    """What the help of the program says of a command, and the module that declares its arguments and does the work.

    The module has ``DESCRIPTION``, ``EPILOG`` with an example, ``add_arguments(parser)`` and ``run(arguments)``, which
    gives the exit status. It imports at its top only what the declaration needs.
    """

    summary: str
    module: str


GROUPS: Final = {
    "write and check": {
        "check": Command("find what is wrong with the comments of pages", "mongo_tables.commands.check"),
        "render": Command("write pages with their tables", "mongo_tables.commands.render"),
        "explain": Command("show what a pipeline does, stage by stage", "mongo_tables.commands.explain"),
        "init": Command(
            "write the first set-up of a repository, or a first comment", "mongo_tables.commands.init"
        ),
        "import": Command("keep what benchmark tools wrote in fixtures", "mongo_tables.commands.import_"),
        "diff": Command("list what changed in the tables", "mongo_tables.commands.diff"),
        "deps": Command("list what each page is made from", "mongo_tables.commands.deps"),
        "schema": Command("print the JSON Schema of a comment", "mongo_tables.commands.schema"),
        "lsp": Command("serve an editor while pages are written", "mongo_tables.lsp.command"),
        "completion": Command(
            "print what makes a shell complete commands and options", "mongo_tables.commands.completion"
        ),
    },
    "results": {
        "pull": Command("copy result documents into fixtures", "mongo_tables.commands.pull"),
        "push": Command("copy fixtures into a results database", "mongo_tables.commands.push"),
    },
    "measure": {
        "run": Command("measure experiments and write result documents", "mongo_tables.commands.run"),
        "experiments": Command("list the experiments", "mongo_tables.commands.experiments"),
        "calibrate": Command(
            "measure how often equal things are called different here", "mongo_tables.commands.calibrate"
        ),
        "compare": Command(
            "compare rows that run wrote; for any others: diff", "mongo_tables.commands.compare"
        ),
        "history": Command(
            "show speeds over campaigns, and where they changed", "mongo_tables.commands.history"
        ),
    },
}
"""The commands, as the help of the program groups them."""

COMMANDS: Final = {name: command for group in GROUPS.values() for name, command in group.items()}

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
        # The interpreter takes a while to end: an interrupt then just ends it, and none of our own is left to come.
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
    if signal.getsignal(signal.SIGINT) != signal.SIG_DFL:  # So it is once the work is done.
        os.kill(os.getpid(), signal.SIGINT)  # Unlike ``interrupt_main`` it wakes a thread that waits.


def _status(arguments: Sequence[str]) -> int:
    if sys.stdout is None:
        return _complain("standard output is closed", 2)
    try:
        if not arguments:
            build_parser(declare=False).print_help()
            return 2
        given = _parse(arguments)
        status: int = given.run(given)
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()  # Whoever read us has enough: not a fault.
        return 0
    except Exception as error:
        return _report_failure(error)
    return status


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the arguments, with what they leave open from the site where the command has ``--config-file``.

    Only the command that is called is declared: to import and declare the others takes longer than most checks.
    """
    called = [one for one in arguments[:1] if one in COMMANDS]
    given = build_parser(called or COMMANDS, declare=bool(called)).parse_args(arguments)
    if "config_file" in given and not getattr(given, "site_only", False):
        from mongo_tables.site.site_config import fill_in  # not for `--help` or `--version`

        given.as_written = argparse.Namespace(**vars(given))
        fill_in(given)
    return given


def _drop_output() -> None:
    """Nothing more can be said on standard output: what is left of it goes nowhere, without a complaint at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _report_failure(error: Exception) -> int:
    """Return one line for what the user can mend; a defect of ours keeps its traceback, for the report."""
    _raise_interrupt(error)
    if isinstance(error, CommandError):
        return print_failure(error)
    if isinstance(error, MemoryError):
        from traceback import clear_frames

        clear_frames(error.__traceback__)  # They hold what filled the memory.
        return _complain("the memory of this machine, or what it allows, is not enough", 2)
    if isinstance(error, OSError):
        # A file that cannot be written is named (``mongo_tables.files.atomic``); a stream has no name.
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


def _complain(message: str, status: int) -> int:
    print_error(message)
    return status


class _Program(HintingParser):
    """The parser of the program, whose help lists the commands in groups."""

    def format_help(self) -> str:
        """Write usage, description, options, and each group of commands."""
        self._shows_help = True
        formatter = self._get_formatter()
        formatter.add_usage(self.usage, self._actions, [])
        formatter.add_text(self.description)
        sections = {"options": self._optionals._group_actions}
        (commands,) = (one for one in self._actions if isinstance(one, argparse._SubParsersAction))
        for title, group in GROUPS.items():
            sections[title] = [one for one in commands._choices_actions if one.dest in group]
        for title, actions in sections.items():
            formatter.start_section(title)
            formatter.add_arguments(actions)
            formatter.end_section()
        formatter.add_text(self.epilog)
        return formatter.format_help()


def build_parser(names: Iterable[str] = COMMANDS, *, declare: bool = True) -> argparse.ArgumentParser:
    """The parser of the commands ``names``: each sets ``run``, which takes the arguments and gives the exit status.

    With ``declare`` false the commands are listed without their arguments, and none of them is imported.
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
    for name in names:
        command = commands.add_parser(
            name, help=COMMANDS[name].summary, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        if declare:
            _declare(command, import_module(COMMANDS[name].module))
    return top


def _declare(command: argparse.ArgumentParser, module: ModuleType) -> None:
    command.description, command.epilog = module.DESCRIPTION, module.EPILOG
    command.set_defaults(run=module.run, build_parser=build_parser)
    module.add_arguments(command)


if __name__ == "__main__":
    sys.exit(main())
