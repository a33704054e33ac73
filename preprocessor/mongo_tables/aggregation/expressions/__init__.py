"""Expression operators, one family per module. A module is imported when a pipeline first uses its family."""
