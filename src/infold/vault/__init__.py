"""Markdown files as they are: reading, parsing, linking, editing and writing them. Pure where it can be."""
