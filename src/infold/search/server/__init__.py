"""The engine as a Qdrant server."""
