"""A language server: what is known of pages and pipelines, where an editor asks for it, while they are written.

``protocol`` and ``server`` alone speak the protocol; the other modules take texts and places, and give plain data.
``project`` holds what is edited, and judges it as ``check`` does.
"""
