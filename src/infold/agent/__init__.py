"""An agent over the vault: it answers questions, and talks."""
