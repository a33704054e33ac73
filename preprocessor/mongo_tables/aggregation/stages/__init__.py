"""One family of stages per module; imported when a pipeline first uses the family."""
