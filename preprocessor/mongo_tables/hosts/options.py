"""The options of the plugin in ``mkdocs.yml``."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.config import config_options as c
from mkdocs.config.base import Config, ValidationError

from mongo_tables.findings.reporters import SEVERITIES
from mongo_tables.site.site_config import is_version, not_a_version

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig


class _AboveZero(c.Type):  # type: ignore[type-arg]
    """A finite number above 0: -1 rows or infinitely many seconds are no limit."""

    def run_validation(self, value: object) -> object:
        number = super().run_validation(value)
        if not 0 < number < math.inf:
            raise ValidationError(f"Expected a number above 0, not {number}")
        return number


class _Version(c.Type):  # type: ignore[type-arg]
    """A version of MongoDB, or nothing."""

    def run_validation(self, value: object) -> object:
        if value != "" and not is_version(value):
            raise ValidationError(not_a_version(value))
        return value


class MongoTablesConfig(Config):  # type: ignore[no-untyped-call]
    """The plugin's options in ``mkdocs.yml``."""

    results = c.Type(str, default="fixtures")
    """Results source: a ``mongodb://`` URI, a folder, or files, relative to ``mkdocs.yml``; patterns allowed.

    The environment variable ``MONGO_TABLES_RESULTS`` overrides it.
    """

    pipelines = c.Type(str, default="")
    """Folder of shared stage lists, relative to ``mkdocs.yml``; by default ``pipelines`` in the docs folder.

    It is not copied to the site.
    """

    values = c.Type(dict, default={})  # type: ignore[assignment]  # it hides ``Mapping.values``
    """Values by name, each with the keys of a ``RESULT_VALUE``, for ``<!-- RESULT: NAME -->`` on any page."""

    server = _Version(str, default="")
    """Version of MongoDB that pipelines are for, such as ``"8.0"``: the linter reports newer operators.

    By default the version that the results source reports.
    """

    documents = c.Type((str, list), default="")
    """Collections of the fixtures whose documents are published, for links from the runs under figures: one, or a list.

    By default none is published. All readers of the site can read all of these documents.
    """

    fail_on = c.Choice(SEVERITIES, default="error")
    """The lowest severity that ends a build: ``error``, ``warning`` or ``note``.

    The linter's notes are left out unless this is ``note``.
    """

    machine_readable = c.Type(bool, default=False)
    """Whether a build writes for programs too: the Markdown of each page beside it, ``llms.txt``, a description of
    each CSV (CSV on the Web), and schema.org ``Dataset`` in pages with results.
    """

    time_limit = _AboveZero((int, float), default=10)
    """Maximum seconds of one pipeline on a server."""

    connect_limit = _AboveZero((int, float), default=2)
    """Maximum seconds to find a server."""

    row_limit = _AboveZero(int, default=10_000)
    """Maximum rows of one pipeline."""

    processor_limit = _AboveZero((int, float), default=60)
    """Maximum seconds of processor time of one pipeline on files, without reading them."""

    memory_limit = _AboveZero((int, float), default=1024)
    """Maximum MiB that one stage may hold on files. A server's limit is 100."""

    document_limit = _AboveZero((int, float), default=16)
    """Maximum MiB of one document, and of one string that a pipeline makes, on files."""

    step_limit = _AboveZero(int, default=200_000)
    """Maximum steps of a regular expression on one text, on files."""

    workers = _AboveZero(int, default=4)
    """Number of pipelines that run at the same time on a server."""


def root_of(config: MkDocsConfig) -> Path:
    """Return the folder that paths in the configuration are relative to."""
    return Path(config.config_file_path).parent if config.config_file_path else Path.cwd()


def pipelines_of(options: MongoTablesConfig, config: MkDocsConfig) -> Path:
    """Return the folder of shared stage lists."""
    return root_of(config) / options.pipelines if options.pipelines else Path(config.docs_dir) / "pipelines"
