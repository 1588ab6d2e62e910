"""The pictures of docs/pages.md, of the demo vault: `python -m scripts.screenshots`. Wants a Chromium on the path."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any, Final, Literal

import httpx2
from playwright.sync_api import sync_playwright

from bench.pages import serving

ROOT: Final = Path(__file__).parent.parent
FOLDER: Final = ROOT / "docs" / "screenshots"
QUALITY: Final = 62
DESK: Final = {"width": 1000, "height": 640}
PHONE: Final = {"width": 390, "height": 700}
FLAGS: Final = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
GROUND: Final = {"contextType": "memory", "contextName": "", "contextValue": ""}
REMEMBERED: Final = (
    "The east bed gets sun until noon.",
    "The water butt behind the shed runs dry in July.",
    "Slugs come over the wall after rain, never through the hedge.",
)


def main() -> None:
    """Takes each picture anew."""
    chromium = shutil.which("chromium")
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as engine:
        vault = shutil.copytree(ROOT / "data" / "vault", Path(temporary) / "vault")
        browser = engine.chromium.launch(executable_path=chromium, args=FLAGS)
        with serving(vault, Path(temporary) / "state") as (base, _, _):
            plan, node = prepare(base)
            pictures: list[tuple[str, str, Any, Literal["dark", "light"]]] = [
                ("home", "/", DESK, "dark"),
                ("plan", f"/run/{plan}", DESK, "dark"),
                ("graph", "/graph", DESK, "light"),
                ("memory", f"/memory?root=garden&node={node}", DESK, "dark"),
                ("note-phone", "/note/kitchen/rye%20bread.md", PHONE, "dark"),
                ("search-phone", "/search?q=how+wet+is+the+compost", PHONE, "light"),
            ]
            for name, address, size, theme in pictures:
                context = browser.new_context(viewport=size, base_url=base, color_scheme=theme, reduced_motion="reduce")
                page = context.new_page()
                page.goto(address, wait_until="networkidle")
                page.screenshot(path=FOLDER / f"{name}.jpg", type="jpeg", quality=QUALITY)
                context.close()
        browser.close()


def prepare(base: str) -> tuple[str, str]:
    """A plan for what waits in the inbox, and a memory tree: the run, and the node to open."""

    def asked(name: str, body: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = httpx2.post(f"{base}/api/{name}", json=body, timeout=300).raise_for_status().json()
        return found

    root = {"root": "garden", "contextType": "root", "contextName": "purpose", "contextValue": "garden"}
    asked("docmem_create", {**root, "text": "What is known of the garden"})
    nodes = [asked("docmem_append", {"parent": "garden", "text": text, **GROUND})["id"] for text in REMEMBERED]
    return asked("inbox_integrate", {"dryRun": True})["run"], nodes[1]


if __name__ == "__main__":
    main()
