"""What came from outside, as Markdown text with what is known of it."""
