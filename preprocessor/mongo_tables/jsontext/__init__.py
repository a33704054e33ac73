"""JSON text to values: with the place of each value, MongoDB's Extended JSON, and what shells write instead."""
