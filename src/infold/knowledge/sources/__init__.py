"""What was brought in from outside, kept whole: each source by its address, its text by its content."""
