"""Rules that leave files out."""

import json
from pathlib import Path

from infold.settings import VaultParams
from infold.vault.scanning import scan


def vault(root: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


def notes(root: Path) -> list[str]:
    return [file.path for file in scan(root, VaultParams()).files]


def obsidian(*filters: object) -> dict[str, str]:
    return {".obsidian/app.json": json.dumps({"userIgnoreFilters": list(filters)})}


def test_gitignore_leaves_notes_out_as_git_does(tmp_path):
    """Folders, names, anchored paths, later lines that bring back: as `git status` would have it."""
    root = vault(tmp_path, {".gitignore": "drafts/\n*.tmp.md\n/top.md\n!keep.tmp.md\n", "a.md": ""})
    vault(
        root, dict.fromkeys(("drafts/b.md", "x.tmp.md", "keep.tmp.md", "top.md", "sub/top.md", "sub/drafts/c.md"), "")
    )
    assert notes(root) == ["a.md", "keep.tmp.md", "sub/top.md"]
    assert scan(root, VaultParams()).ignored == 4


def test_what_lies_in_a_folder_left_out_cannot_be_brought_back(tmp_path):
    """Git's own rule: a file cannot be re-included under an excluded folder."""
    root = vault(tmp_path, {".gitignore": "drafts/\n!drafts/keep.md\n", "drafts/keep.md": ""})
    assert notes(root) == []


def test_nested_rule_files_count_for_their_folder_and_win(tmp_path):
    """A deeper `.gitignore` speaks of its own folder only, and overrides the ones above."""
    root = vault(tmp_path, {".gitignore": "*.x.md\n", "sub/.gitignore": "!good.x.md\n/only.md\n"})
    vault(root, dict.fromkeys(("a.x.md", "sub/good.x.md", "sub/bad.x.md", "sub/only.md", "only.md"), ""))
    assert notes(root) == ["only.md", "sub/good.x.md"]


def test_infoldignore_has_the_last_word(tmp_path):
    """Notes kept out of git can be taken in, and notes in git kept from infold."""
    root = vault(tmp_path, {".gitignore": "journal/\n", ".infoldignore": "!journal/\nprivate*\n"})
    vault(root, dict.fromkeys(("journal/2024-01-01.md", "private thoughts.md", "a.md"), ""))
    assert notes(root) == ["a.md", "journal/2024-01-01.md"]


def test_a_rule_that_is_no_pattern_is_named_and_the_rest_counts(tmp_path):
    """One bad line does not switch the file off."""
    root = vault(tmp_path, {".infoldignore": "[z-a]\nout.md\n", "out.md": "", "a.md": ""})
    found = scan(root, VaultParams())
    assert [file.path for file in found.files] == ["a.md"]
    assert [item.path for item in found.skipped] == [".infoldignore"]
    assert "line 1" in found.skipped[0].reason


def test_obsidian_filters_are_prefixes_of_the_path(tmp_path):
    """Obsidian's "Excluded files": the beginning of a path, whatever the case."""
    root = vault(tmp_path, obsidian("Templates/", "99 Sys"))
    vault(root, dict.fromkeys(("templates/t.md", "99 System/x.md", "sub/Templates/y.md", "Templates.md"), ""))
    assert notes(root) == ["Templates.md", "sub/Templates/y.md"]


def test_obsidian_filters_between_slashes_are_patterns(tmp_path):
    """`/…/` is a regular expression that may match anywhere in the path."""
    root = vault(tmp_path, obsidian(r"/\d{4}-\d\d/", "/(?<year>secret)/"))
    vault(root, dict.fromkeys(("2024-01 log.md", "a/2023-12/x.md", "Secret plan.md", "a.md"), ""))
    assert notes(root) == ["a.md"]


def test_obsidian_filters_that_cannot_be_used_are_named(tmp_path):
    """A broken pattern, or a broken settings file, is said and stops nothing."""
    root = vault(tmp_path, {"a.md": ""} | obsidian("/(/", 3, ""))
    found = scan(root, VaultParams())
    assert [file.path for file in found.files] == ["a.md"]
    assert "not a valid pattern" in found.skipped[0].reason
    vault(root, {".obsidian/app.json": "{broken"})
    assert "cannot be read" in scan(root, VaultParams()).skipped[0].reason


def test_ignored_files_are_counted_not_named(tmp_path):
    """Leaving out is what the owner asked for: no report of it."""
    root = vault(tmp_path, {".infoldignore": "x/\n", "x/a.md": "", "x/b.md": "", "c.md": ""})
    found = scan(root, VaultParams())
    assert (found.skipped, found.ignored) == ((), 1)
