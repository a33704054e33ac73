"""The commands, each with its arguments and its code. ``mongo_tables.cli`` lists the commands."""
