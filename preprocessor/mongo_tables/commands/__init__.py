"""The commands: the arguments and the code of each. ``mongo_tables.cli`` lists them."""
