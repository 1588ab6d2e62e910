"""What the offline librarian's decisions are kept under; apart, so that it is known without loading the librarian."""

from typing import Final

NAME: Final = "offline/1"
