"""Thin Prefect tasks: a cache key, retries, a name, and one call into the library."""
