"""What things cost, measured: each module prints figures when it is run."""
