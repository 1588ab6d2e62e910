"""The main job: an inbox becomes paragraphs, chunks, an exploration, edits, and a run that can be read and undone."""
