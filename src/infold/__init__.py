"""infold folds new text into the notes you already have."""

__version__ = "0.1.0"
