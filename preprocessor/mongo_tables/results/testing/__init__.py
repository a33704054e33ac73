"""Tests of pipelines in other projects: the fixtures of a pytest plugin, over a folder of fixture files.

The extra ``mongo-tables[testing]`` installs the dependencies. A project's root ``conftest.py`` names ``plugin``, which
imports the other modules when a test requests its fixtures.
"""

from typing import Final

SETTING: Final = "mongo_fixtures"
"""The name of pytest's setting and of the marker for the fixture folder."""
UPDATE: Final = "--update-mongo-golden"
"""The option that writes golden files.

pytest does not start if two plugins define the same option, and ``--update`` is a likely name. Other plugins for golden
files use ``--update-goldens``, ``--update_goldens``, ``--snapshot-update``, ``--force-regen``.
"""
