"""The index: what an engine promises, what a point is, what is indexed already, and bringing it up to date."""
