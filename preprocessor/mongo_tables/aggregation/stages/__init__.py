"""One family of stages a module; imported when a pipeline first uses one of the family."""
