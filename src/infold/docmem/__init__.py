"""Tree memory that serialises into documents (spec 2)."""
