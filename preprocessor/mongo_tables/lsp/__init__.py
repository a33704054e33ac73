"""A language server that gives editors completion, hovers, findings and fixes for pages and pipelines.

Only ``protocol`` and ``server`` handle the protocol; the other modules take texts and positions, and return plain data.
``project`` holds the edited files, and judges them as ``check`` does.
"""

from __future__ import annotations

from argparse import ArgumentParser

from mongo_tables.commands.options import SOURCE, add_options

DESCRIPTION = (
    "Speaks the Language Server Protocol over standard input and output, for Markdown pages and shared pipelines\n"
    "(docs/pipelines/*.json). An editor starts it. It marks what `check` finds while you type, and offers keys,\n"
    "stages, operators and the fields that documents have at that place."
)
EPILOG = f"""\
{SOURCE}

A mongodb:// source is not asked, unless with --database: pages are then checked as by `check --static`. Nothing of the
folder is run, whatever its mkdocs.yml lists.

example, for Neovim:
  vim.lsp.config("mongo_tables", {{cmd = {{"mongo-tables", "lsp"}}, filetypes = {{"markdown", "mdx", "json"}},
                                  root_markers = {{"mkdocs.yml", "mongo-tables.toml", ".git"}}}})
  vim.lsp.enable("mongo_tables")

exit status: 0 the editor has ended it, 1 the editor went away, 2 wrong usage or the extra [lsp] is missing"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments for the source of rows, and for permission to use a database."""
    parser.add_argument(
        "--stdio", action="store_true", help="no effect, because it is the default; some editors require it"
    )
    parser.add_argument(
        "--database", action="store_true", help="also query a mongodb:// source, whenever a pipeline is typed"
    )
    add_options(parser, "--results", "--limit")
    # There is no default name: the site is only known once the editor has named its folder.
    parser.add_argument(
        "-f",
        "--config-file",
        dest="site_file",
        metavar="FILE",
        help="what the site is built from (default: mkdocs.yml, properdocs.yml or zensical.toml there)",
    )
