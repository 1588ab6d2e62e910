"""What can be derived from the vault, as parquet: one module a table, nothing here that one command cannot rebuild."""
