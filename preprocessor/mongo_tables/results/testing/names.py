"""The names by which the settings of pytest, tests and command lines call this plugin."""

from __future__ import annotations

from typing import Final

SETTING: Final = "mongo_fixtures"
"""The setting of pytest, and the marker, that name the fixture folder."""
UPDATE: Final = "--update-mongo-golden"
"""pytest does not start where two plugins have an option of the same name, and ``--update`` is anybody's. Others for
golden files are ``--update-goldens``, ``--update_goldens``, ``--snapshot-update``, ``--force-regen``.
"""
