"""Tree memory that serialises into documents (spec 2): `memory.Docmem` is the door, `node` and `place` its words."""
