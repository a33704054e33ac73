"""Comments to specs: what a table, a chart, a value or a statement asks for, as plain data that has been checked."""
