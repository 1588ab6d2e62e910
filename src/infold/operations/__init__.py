"""Every operation once: a typed request, a typed answer, what it does; a file a group. See `operations.table`."""
