"""What keeps the repository in order; no part of the package."""
