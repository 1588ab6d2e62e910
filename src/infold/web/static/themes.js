// The map of themes: notes near each other say like things.
import { $, $$ } from "./page.js";
import { drawMap, hueOf } from "./map.js";

const data = $("#spots");
if (data) {
  drawMap($("#map"), JSON.parse(data.textContent).notes.map((note) => ({
    x: note.x,
    y: note.y,
    title: note.title,
    says: `${note.title} (${note.path})`,
    href: `/nav?step=in&node=${note.node}`,
    radius: 4,
    colour: note.theme,
  })));
  for (const dot of $$("[data-theme-number]")) dot.style.setProperty("--hue", hueOf(Number(dot.dataset.themeNumber)));
}
