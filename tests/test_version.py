"""The version has one place, `infold.__version__`; the package, the command and the changelog say the same."""

from __future__ import annotations

import re
import tomllib
from datetime import date
from pathlib import Path

from infold import __version__

REPOSITORY = Path(__file__).resolve().parents[1]
CHANGELOG = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
SECTIONS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def released() -> list[tuple[str, str]]:
    """The versions of the changelog with their days, as they stand."""
    return re.findall(r"^## \[([^\]]+)\] - (\S+)$", CHANGELOG, re.MULTILINE)


def test_the_package_takes_its_version_from_the_code():
    """`pyproject.toml` has no number of its own, and names the file that has it."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" not in project["project"]
    assert project["project"]["dynamic"] == ["version"]
    file = REPOSITORY / project["tool"]["hatch"]["version"]["path"]
    assert re.findall(r'^__version__ = "(.*)"$', file.read_text(encoding="utf-8"), re.MULTILINE) == [__version__]


def test_the_changelog_knows_this_version():
    """Its newest version is that of the code; above it stands what is not released."""
    headings = re.findall(r"^## (.*)$", CHANGELOG, re.MULTILINE)
    assert headings[0] == "[Unreleased]"
    assert headings[1:] == [f"[{version}] - {day}" for version, day in released()]
    assert released()[0][0] == __version__


def test_the_changelog_keeps_its_form():
    """Versions and days go down, each version is a SemVer one, and says something under the six headings alone."""
    versions = [tuple(map(int, version.split("."))) for version, _ in released()]
    days = [date.fromisoformat(day) for _, day in released()]
    assert all(len(version) == 3 for version in versions)
    assert versions == sorted(set(versions), reverse=True)
    assert days == sorted(days, reverse=True)
    assert set(re.findall(r"^### (.*)$", CHANGELOG, re.MULTILINE)) <= SECTIONS
    for text in re.split(r"^## .*$", CHANGELOG, flags=re.MULTILINE)[2:]:
        assert re.search(r"^- ", text, re.MULTILINE)
