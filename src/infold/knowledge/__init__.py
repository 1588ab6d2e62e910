"""The notes as knowledge: their graph, what they say, and context made of them that fits a budget (spec 4)."""
