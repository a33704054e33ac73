"""Load from many machines: Dask distributed has them under control, and each owns its worker processes."""
