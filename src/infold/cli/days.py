"""Days as people write them on a command line: 2026-11-01, today, yesterday, 7d, 2w, 3m, 1y."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import Final

from infold.errors import UsageError

_AGO: Final = re.compile(r"(\d{1,5})\s*([dwmy])")
_DAYS: Final = {"d": 1, "w": 7, "m": 30, "y": 365}
_NAMED: Final = {"today": 0, "yesterday": 1}


def read_day(written: str, option: str) -> str:
    """The ISO day that `written` means, counted back from today. Raises UsageError naming the option."""
    plain = written.strip().casefold()
    try:
        if plain in _NAMED:
            return (date.today() - timedelta(days=_NAMED[plain])).isoformat()  # noqa: DTZ011 - the person's own day
        ago = _AGO.fullmatch(plain)
        if ago is not None:
            return (date.today() - timedelta(days=int(ago[1]) * _DAYS[ago[2]])).isoformat()  # noqa: DTZ011
        return date.fromisoformat(plain).isoformat()
    except (ValueError, OverflowError) as error:
        raise UsageError(
            f"{option} {written!r} is no day.", hint="Such as 2026-11-01, yesterday, 7d, 2w, 3m or 1y."
        ) from error
