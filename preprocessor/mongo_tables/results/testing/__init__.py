"""Pipelines in other people's tests: the fixtures of a pytest plugin, over a folder of fixture files.

The extra ``mongo-tables[testing]`` brings what it needs. A project's root ``conftest.py`` names
``plugin``, which imports the other modules when a test asks for them.
"""
