"""What survives: files, contents, locks, databases, and changes with their undo. Knows nothing of notes or Markdown."""
