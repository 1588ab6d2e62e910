"""Following a vault: what happens to its files, until it settles, brings the index up to date."""
