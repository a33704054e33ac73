"""Pipelines in other people's tests: the fixtures of a pytest plugin, over a folder of fixture files.

The extra ``mongo-tables[testing]`` brings what it needs. A project's root ``conftest.py`` names
``plugin``, which imports the other modules when a test asks for them.
"""

from typing import Final

SETTING: Final = "mongo_fixtures"
"""The setting of pytest, and the marker, that name the fixture folder."""
UPDATE: Final = "--update-mongo-golden"
"""pytest does not start where two plugins have an option of the same name, and ``--update`` is anybody's. Others for
golden files are ``--update-goldens``, ``--update_goldens``, ``--snapshot-update``, ``--force-regen``.
"""
