"""What is put before an agent without anybody having said it, and how a transcript is freed of it again.

A memory that indexes what it was itself given finds itself: infold's own context and reminders, and the notes that
common agents inject, are no part of a conversation.
"""

from __future__ import annotations

import re
from typing import Final

TAG: Final = "infold-context"  # around the context that `notebook.context` makes
REMINDER: Final = (
    "Session nearing compaction. Write any durable memories to your notebook or daily log now. After compaction, only "
    "your notebook and recent daily logs will be available."
)
_TAGGED: Final = re.compile(
    rf"<({TAG}|system-reminder|environment_context|user_instructions|local-command-stdout|local-command-stderr"
    r"|command-name|command-message|command-args|ide_[a-z_]+)\b[^>]*>.*?</\1>",
    re.DOTALL,
)
_FENCED: Final = re.compile(r"<<<[\w -]+ ([0-9a-f]{12}) origin=[^\n]*>>>\n.*?\n<<<end \1>>>", re.DOTALL)


def without_injected(text: str) -> str:
    """What was really said of `text`; '' where all of it was injected."""
    said = _TAGGED.sub("", _FENCED.sub("", text)).strip()
    return "" if " ".join(said.split()) in (REMINDER, f"[System] {REMINDER}") else said
