"""One family of expression operators per module. Imported when a pipeline first uses the family."""
