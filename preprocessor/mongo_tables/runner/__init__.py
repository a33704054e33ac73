"""The experiment runner: it runs MongoDB, measures it and writes result documents.

An experiment is a data file (``experiments/NAME.toml``); the kinds of work are code (``workloads/``). A target
(``target``, ``local_set``) provides the deployment, ``load`` generates the load, and ``result_rows`` composes the
rows.
"""

MARKER = "mongo_tables_marker"
"""The collection whose documents show that a run or a push created its database."""
