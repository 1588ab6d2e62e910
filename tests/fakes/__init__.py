"""Named stand-ins: few, small, and tested themselves."""
