"""One family of expression operators per module; imported when a pipeline first uses the family."""
