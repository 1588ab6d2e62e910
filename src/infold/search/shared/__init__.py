"""The embedded engine, which one process opens at a time, used by several together."""
