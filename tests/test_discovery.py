"""Finding the root note and the inbox by names and links."""

from __future__ import annotations

import pytest

from infold.discovery import find_inbox, find_root


@pytest.mark.parametrize(
    "paths, root",
    [
        (["index.md", "README.md", "a.md"], "index.md"),
        (["README.md", "Home.md"], "README.md"),
        (["Home.md", "sub/index.md"], "Home.md"),
        (["root.md", "root.notes.md"], "root.md"),
        (["My Vault.md", "a.md"], "My Vault.md"),
    ],
)
def test_a_name_at_the_top_that_says_so_is_the_root(paths, root):
    """index, README, Home, root, then the folder's own name; a name deeper down does not outweigh one at the top."""
    found = find_root(paths, "My Vault", {})
    assert found is not None
    assert found.path == root


def test_without_a_telling_name_the_note_that_reaches_most_is_the_root():
    """And the reason says how many."""
    found = find_root(["a.md", "b.md", "c.md"], "vault", {"a.md": 1, "b.md": 2, "c.md": 0})
    assert found is not None
    assert (found.path, "2" in found.why) == ("b.md", True)


def test_a_telling_name_deeper_down_is_better_than_nothing():
    """In a vault without links, notes/index.md is still a root."""
    found = find_root(["notes/index.md", "notes/a.md"], "vault", {"notes/a.md": 0})
    assert found is not None
    assert found.path == "notes/index.md"


def test_a_vault_without_names_or_links_has_no_root():
    """Nothing is guessed."""
    assert find_root(["a.md"], "vault", {"a.md": 0}) is None
    assert find_root([], "vault", {}) is None


@pytest.mark.parametrize("name", ["inbox.md", "Inbox.md", "00 Inbox.md", "00 Inbox/00-inbox.md"])
def test_an_inbox_is_found_by_its_name(name):
    """Whatever its case, wherever it lies."""
    found = find_inbox(["a.md", name, "inbox ideas.md"])
    assert found is not None
    assert found.path == name


def test_no_inbox_is_no_inbox():
    """A note about inboxes is none."""
    assert find_inbox(["inbox zero.md", "a.md"]) is None


def test_a_name_that_leads_nowhere_is_no_root_where_another_note_leads_on():
    """Exploration starts at the root: one without links would reach nothing."""
    found = find_root(["root.md", "topics.md", "a.md"], "vault", {"root.md": 0, "topics.md": 1, "a.md": 0})
    assert found is not None
    assert found.path == "topics.md"


def test_a_note_of_loose_thoughts_is_not_taken_for_the_inbox():
    """What an inbox holds is moved out of it: only a name that says inbox is taken for one."""
    assert find_inbox(["scratch.md", "quick notes.md"]) is None
