"""Pipelines in other people's tests: the fixtures of a pytest plugin, over a folder of fixture files.

The extra ``mongo-tables[testing]`` brings what it needs. pytest loads ``plugin`` in every run of whoever has
this package installed, so that module imports the others when a test asks for them.
"""
