"""One family of expression operators a module; imported when a pipeline first uses one of the family."""
