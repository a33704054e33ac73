"""Parsing of JSON text with the position of each value, of MongoDB's Extended JSON, and of the notation of shells."""
