"""Jottings as people write them, folded into vaults as people have them: the whole job, offline, as commands do it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import infold
from infold.text import collapse_spaces
from infold.vault.note import parse
from infold.vault.structure import belong_together

pytestmark = pytest.mark.slow

# By vault: sentences, lists, tasks, a lead-in with its code, a link, a quote, in two languages; some belong nowhere.
JOTTINGS = {
    "quartz-docs": """# Inbox

The darkmode toggle also follows prefers-color-scheme when nothing was chosen before.

- reader mode: hides sidebars, nice for long essays
- backlinks panel can be switched off per page?
- buy oat milk on the way home

- [ ] check that the RSS feed really has full text and not only the summary
- [x] custom domain: CNAME file goes into quartz/static

Um die Suche zu öffnen reicht Strg+K, mit Strg+Umschalt+K sucht man nach Tags.

To build on GitLab the image needs full git history, otherwise dates are wrong:

```yaml
variables:
  GIT_DEPTH: 0
```

https://example.org/styles - ideas for how people style the explorer

> A garden is never finished, it only gets different.

Wikilinks mit Alias gehen so: [[Seite|Anderer Text]], eingebettet mit einem Ausrufezeichen davor.

Plugins run in the order they stand in the config:
1. transformers
2. filters
3. emitters
""",
    "foam-docs": """The graph view is slow with more than a few thousand notes; turning off tags helps.

- daily note template could hold a heading for gratitude
- renaming a note in the explorer updates links, in the terminal it does not

- [ ] try out recommended extensions on the new laptop
- [ ] orphans panel: how does one exclude a folder

Wer die Vorlage für neue Notizen ändern will, legt sie in .foam/templates/new-note.md ab.

Publishing with GitHub Pages from a private repository costs money, Vercel does not:

```bash
npm i -g vercel && vercel --prod
```

> The palest ink is better than the best memory.

Passport expires in August, renew it before June

Materialized backlinks would be written into the file itself:
- good for reading on the phone
- bad for diffs in git
""",
    "forgetful-notes": """- git bisect run ./test.sh finds the commit by itself
- ssh: `ServerAliveInterval 60` against dropped connections
- oat milk, bread

In Python a default argument is evaluated once, so never use a list there.

- [ ] read about zettelkasten and fleeting notes again
- [x] docker prune freed 20 GB

To see which process holds a port:

```sh
lsof -i :8080
```

> Simplicity is prerequisite for reliability.

Zeitzonen immer als UTC speichern und erst bei der Anzeige umrechnen.

Steps to a new Linux machine:
1. dotfiles
2. ssh key
3. packages
""",
    "dendron-site": """The lookup bar remembers the last query, Ctrl+L twice opens it with the hierarchy.

- schema files end with .schema.yml and live in the vault root
- journal notes: the date format can be set in dendron.yml

- [ ] move scratch notes older than a month to archive

Mit „Doctor“ lassen sich kaputte Links und fehlende IDs im Frontmatter reparieren.

Exporting a single note as JSON needs the pods v2 command:

```yaml
podType: JSONExportV2
exportScope: Note
```

Water the balcony plants while Eva is away

When publishing goes wrong:
- clear .next
- run the init of publishing again
""",
}


def texts(vault: Path) -> dict[str, bytes]:
    return {path.relative_to(vault).as_posix(): path.read_bytes() for path in vault.rglob("*.md")}


def kept_together(before: bytes, after: bytes) -> bool:
    """Whether neighbours that belong together, lists aside, which may take items in, are neighbours still."""
    old, new = parse("n.md", before.decode()), parse("n.md", after.decode())
    pairs = [
        (old.block_text(first), old.block_text(second))
        for first, second in zip(old.blocks, old.blocks[1:], strict=False)
        if belong_together(old, first, second) and first.kind is not second.kind
    ]
    shown = collapse_spaces("\n".join(new.block_text(block) for block in new.blocks))
    return all(collapse_spaces(f"{first}\n{second}") in shown for first, second in pairs)


@pytest.mark.parametrize("name", JOTTINGS)
def test_jottings_go_in_once_and_come_out_to_the_byte(name, shared_data, tmp_path):
    """Dropped three times there is one copy; nothing that belongs together is parted, no line is lost, undo restores."""
    vault, inbox = tmp_path / "vault", JOTTINGS[name]
    shutil.copytree(shared_data / "vaults" / name, vault)
    vault.chmod(0o755)
    for path in vault.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    (vault / "inbox.md").write_text(inbox)
    before = texts(vault)
    settings = ["integrate.quiet_seconds=0", "search.embedding=none"]
    with infold.open(vault, state=tmp_path / "state", changes=settings) as opened:
        plan = opened.integrate(dry_run=True)
        assert texts(vault) == before
        done = opened.apply(plan.id)
        once = texts(vault)
        placed = [p for p in done.paragraphs if p.outcome == "integrated"]
        assert len(placed) >= len(done.paragraphs) // 2
        for paragraph in placed:
            said = collapse_spaces(paragraph.text.lstrip("-*+ "))
            assert said in collapse_spaces(once[paragraph.file].decode())
        changed = [path for path in once if once[path] != before[path] and path != "inbox.md"]
        assert changed
        assert all(kept_together(before[path], once[path]) for path in changed)
        for path in changed:
            lines = iter(once[path].splitlines(keepends=True))
            assert all(line in lines for line in before[path].splitlines(keepends=True)), path
        for _ in range(2):
            (vault / "inbox.md").write_text(inbox)
            again = opened.integrate()
            assert {p.text for p in again.paragraphs if p.outcome == "duplicate"} == {p.text for p in placed}
            late = {p.text: p.file for p in again.paragraphs if p.outcome == "integrated"}
            assert set(late) <= {p.text for p in done.paragraphs if p.outcome == "left"}, "likelier beside the others"
            now = {path: text for path, text in texts(vault).items() if path not in {"inbox.md", *late.values()}}
            assert now == {path: once[path] for path in now}
            for paragraph in placed:
                said = collapse_spaces(paragraph.text.lstrip("-*+ "))
                assert collapse_spaces((vault / paragraph.file).read_text()).count(said) == 1
            opened.undo(again.id)
            assert {**texts(vault), "inbox.md": b""} == {**once, "inbox.md": b""}
        (vault / "inbox.md").write_bytes(once["inbox.md"])
        opened.undo(done.id)
        assert texts(vault) == before
