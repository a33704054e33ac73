"""What each command does; ``preprocessor.cli`` says what can be asked."""
