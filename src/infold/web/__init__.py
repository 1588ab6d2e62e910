"""The HTTP face: every operation under /api, the debug API of spec 3, and the pages (specs 3 and 5)."""
