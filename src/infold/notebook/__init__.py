"""The notebook of an agent: pages, daily log, context, sessions (spec 3)."""
