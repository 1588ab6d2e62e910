"""What a vault is like, what is wrong with it, its settings and its state, and what to do about that."""
