"""One index over the passages of the vault: keyword and meaning, embedded in the process."""
