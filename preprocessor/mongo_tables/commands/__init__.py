"""What each command takes and does; ``mongo_tables.cli`` lists the commands."""
