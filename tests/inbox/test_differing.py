"""The job says where the inbox contradicts a note."""

from __future__ import annotations

import infold


def test_a_run_says_what_differs_from_a_note(tmp_path):
    """Both sentences, the paragraph and the note's line; a paragraph that agrees is not named."""
    root = tmp_path / "vault"
    root.mkdir()
    (root / "index.md").write_text("# Home\n\n[[Heat pump]]\n")
    (root / "Heat pump.md").write_text("# Heat pump\n\nThe heat pump in the cellar draws 9 kW on cold days.\n")
    (root / "inbox.md").write_text(
        "The heat pump in the cellar draws 11 kW on cold days.\n\nThe heat pump in the cellar needs a new filter each spring.\n"
    )
    with infold.open(root, state=tmp_path / "state", changes=["search.embedding=none"]) as vault:
        run = vault.integrate(dry_run=True)
    (told,) = [warning for warning in run.warnings if "differs from" in warning]
    assert told.startswith("Paragraph 1 differs from Heat pump.md:3:")
    assert "draws 11 kW" in told
    assert "draws 9 kW" in told
