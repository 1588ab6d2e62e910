// The graph of notes: linked ones are drawn near each other (d3-force), the canvas is panned, zoomed and opened.
import { $, noteAddress, pause } from "./page.js";
import { drawMap } from "./map.js";

const SLICE_MS = 24; // between two drawings while the notes find their places

const data = $("#linked");
if (data) {
  const { notes, joined, centre } = JSON.parse(data.textContent);
  const spots = notes.map(({ path, links, folder }, place) => ({
    x: 0,
    y: 0,
    title: path.split("/").at(-1).replace(/\.md$/, ""),
    says: `${path}: ${links} link${links === 1 ? "" : "s"}`,
    href: noteAddress(path),
    radius: place === centre ? 9 : 3 + Math.min(6, Math.sqrt(links)),
    colour: folder,
  }));
  settle(spots, joined, drawMap($("#map"), spots, joined));
}

// Places for all notes, drawn while they are found; with reduced motion only at the end.
async function settle(spots, joined, draw) {
  const d3 = window.d3;
  const nodes = spots.map(() => ({}));
  const links = joined.map(([source, target]) => ({ source, target }));
  const simulation = d3.forceSimulation(nodes)
    .force("link", d3.forceLink(links).distance(30))
    .force("charge", d3.forceManyBody().strength(-60).distanceMax(600))
    .force("x", d3.forceX().strength(0.06))
    .force("y", d3.forceY().strength(0.1))
    .stop();
  if (nodes.length > 1500) simulation.alphaDecay(0.06);
  const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
  while (simulation.alpha() > simulation.alphaMin()) {
    const until = performance.now() + SLICE_MS;
    while (performance.now() < until && simulation.alpha() > simulation.alphaMin()) simulation.tick();
    if (!isStill) place(nodes, spots, draw);
    await pause(0);
  }
  place(nodes, spots, draw);
  $("#map").dataset.settled = "yes";
}

// Into the square from -1 to 1 that the map shows.
function place(nodes, spots, draw) {
  const reach = (of) => Math.max(1, ...nodes.map((node) => Math.abs(node[of])));
  const [wide, high] = [reach("x"), reach("y")];
  for (const [number, node] of nodes.entries()) Object.assign(spots[number], { x: node.x / wide, y: node.y / high });
  draw();
}
