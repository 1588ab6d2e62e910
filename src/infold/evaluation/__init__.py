"""How good it is, measured on one's own vault."""
