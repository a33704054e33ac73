"""The commands. ``mongo_tables.cli`` lists them; the modules ``*_commands`` declare their options."""
