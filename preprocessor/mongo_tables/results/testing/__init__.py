"""Tests of pipelines in other projects: the fixtures of a pytest plugin, over a folder of fixture files.

The extra ``mongo-tables[testing]`` installs the dependencies. A project names ``plugin`` in its root ``conftest.py``.
"""
