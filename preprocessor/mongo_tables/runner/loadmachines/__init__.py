"""Load from many machines: Dask distributed controls them, and each machine owns its worker processes."""
