"""The entry point of the command line. It makes garbage collections rare before it imports the rest of the program."""

from __future__ import annotations

import sys

from mongo_tables.files.process import seldom_collected


def main() -> int:
    """Run the command that the process's arguments name, and return the exit status."""
    with seldom_collected():
        try:
            from mongo_tables.cli import main as run  # with few garbage collections
        except KeyboardInterrupt:
            print("mongo-tables: interrupted", file=sys.stderr)
            return 130
        return run()


if __name__ == "__main__":
    sys.exit(main())
