"""What each command takes and does; ``preprocessor.cli`` lists the commands."""
