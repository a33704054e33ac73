"""A language server that gives editors completion, hovers, findings and fixes for pages and pipelines.

``server`` speaks the protocol. The other modules take texts and positions, and return plain data. ``project`` has the
edited files and finds the same faults in them as the command ``check``.
"""

from __future__ import annotations

from argparse import ArgumentParser

from mongo_tables.commands.options import SOURCE, add_options

DESCRIPTION = (
    "Serves an editor over the Language Server Protocol, for Markdown pages and shared pipelines\n"
    "(docs/pipelines/*.json). The editor starts it and uses its standard input and output. While you type, it reports\n"
    "the findings of `check`, and completes keys, stages, operators and the names of fields."
)
EPILOG = f"""\
{SOURCE}

It queries a mongodb:// source only with --database; otherwise it checks pages as `check --static` does. It never runs
plugins or hooks of the site.

example, for Neovim:
  vim.lsp.config("mongo_tables", {{cmd = {{"mongo-tables", "lsp"}}, filetypes = {{"markdown", "mdx", "json"}},
                                  root_markers = {{"mkdocs.yml", "mongo-tables.toml", ".git"}}}})
  vim.lsp.enable("mongo_tables")

exit status: 0 the editor ended the session, 1 the editor is gone, 2 wrong usage or the extra [lsp] is missing"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command."""
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
