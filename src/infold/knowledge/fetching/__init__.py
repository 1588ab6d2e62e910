"""Pages from outside: fetched within bounds, and read as text."""
