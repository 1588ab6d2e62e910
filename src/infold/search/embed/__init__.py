"""Texts to vectors: what an embedder promises, its providers, and the models that they run."""
