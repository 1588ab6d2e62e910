"""What is left out of a vault by rule: Obsidian's own filters, `.gitignore` and `.infoldignore`.

Dot folders (`.trash`, `.obsidian` and `.git` are some) are left out by `vault.scanning` itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from infold.vault.names import folded

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

GITIGNORE: Final = ".gitignore"
INFOLDIGNORE: Final = ".infoldignore"
OBSIDIAN_SETTINGS: Final = ".obsidian/app.json"
_MAX_RULE_BYTES: Final = 1024 * 1024
_NAMED_GROUP: Final = re.compile(r"\(\?<(?![=!])")

Problem = tuple[str, str]  # path, reason


class FolderRules(NamedTuple):
    """The rules in force in one folder: those of the folders above, then its own.

    As with git, a deeper file and a later line win. `.infoldignore` has the last word over `.gitignore`, so that notes
    kept out of git can be taken in with `!drafts/`.
    """

    git: tuple[tuple[str, GitIgnoreSpec], ...] = ()
    infold: tuple[tuple[str, GitIgnoreSpec], ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def is_active(self) -> bool:
        """Whether there is any rule."""
        return bool(self.git or self.infold)

    def within(self, place: str, prefix: str, names: set[str]) -> FolderRules:
        """The rules in force in the folder at `place`, vault-relative `prefix`, which holds the dot files `names`."""
        git, infold = self.git, self.infold
        problems: list[Problem] = []
        if GITIGNORE in names:
            spec = _read_rules(f"{place}/{GITIGNORE}", prefix + GITIGNORE, problems)
            git = (*git, (prefix, spec)) if spec is not None else git
        if INFOLDIGNORE in names:
            spec = _read_rules(f"{place}/{INFOLDIGNORE}", prefix + INFOLDIGNORE, problems)
            infold = (*infold, (prefix, spec)) if spec is not None else infold
        if git is self.git and infold is self.infold and not problems and not self.problems:
            return self
        return FolderRules(git, infold, tuple(problems))

    def ignores(self, path: str, *, is_folder: bool) -> bool:
        """Whether the file or folder at vault-relative `path` is left out."""
        name = f"{path}/" if is_folder else path
        for specs in (self.infold, self.git):
            for prefix, spec in reversed(specs):
                verdict = spec.check_file(name[len(prefix) :]).include
                if verdict is not None:
                    return bool(verdict)
        return False


def obsidian_filters(root: Path) -> tuple[list[Callable[[str], bool]], list[Problem]]:
    """Obsidian's "Excluded files": each entry as a test of a vault-relative path, and what could not be understood.

    An entry between slashes is a regular expression that may match anywhere, any other the beginning of a path; neither
    minds case.
    """
    try:
        settings = json.loads((root / OBSIDIAN_SETTINGS).read_bytes())
    except FileNotFoundError:
        return [], []
    except (OSError, ValueError) as error:
        return [], [(OBSIDIAN_SETTINGS, f"its filters cannot be read: {error}")]
    entries = settings.get("userIgnoreFilters") if isinstance(settings, dict) else None
    tests: list[Callable[[str], bool]] = []
    problems: list[Problem] = []
    for entry in entries if isinstance(entries, list) else []:
        if not isinstance(entry, str) or not entry:
            continue
        if len(entry) > 2 and entry.startswith("/") and entry.endswith("/"):
            try:
                pattern = re.compile(_NAMED_GROUP.sub("(?P<", entry[1:-1]), re.IGNORECASE)
            except (re.error, RecursionError, OverflowError) as error:
                problems.append((OBSIDIAN_SETTINGS, f"the filter {entry} is not a valid pattern: {error}"))
                continue
            tests.append(_searches(pattern))
        else:
            tests.append(_starts_with(folded(entry)))
    return tests, problems


def _searches(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda path: pattern.search(path) is not None


def _starts_with(prefix: str) -> Callable[[str], bool]:
    return lambda path: folded(path).startswith(prefix)


def _read_rules(file: str, path: str, problems: list[Problem]) -> GitIgnoreSpec | None:
    from pathspec import GitIgnoreSpec
    from pathspec.patterns.gitignore.base import GitIgnorePatternError

    try:
        with Path(file).open("rb") as stream:
            text = stream.read(_MAX_RULE_BYTES).decode(errors="replace")
    except OSError as error:
        problems.append((path, f"its rules cannot be read: {error.strerror or error}"))
        return None
    lines: list[str] = []
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        try:
            GitIgnoreSpec.from_lines([line])
        except (GitIgnorePatternError, re.error) as error:
            problems.append((path, f"line {number} is not a valid pattern: {error}"))
        else:
            lines.append(line)
    return GitIgnoreSpec.from_lines(lines)
