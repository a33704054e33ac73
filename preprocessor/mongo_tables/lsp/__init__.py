"""A language server: what is known of pages and pipelines, where an editor asks for it, while they are written.

``protocol`` alone speaks the protocol; the other modules take texts and places, and give plain data. ``project`` holds
what is edited, and judges it as ``check`` does.
"""
