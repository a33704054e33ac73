"""One family of stages per module. Imported when a pipeline first uses the family."""
