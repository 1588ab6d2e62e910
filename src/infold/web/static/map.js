// A map of spots on a canvas: pan, zoom and open, with mouse, touch or keys.
// A spot has x and y (the map reaches from -1 to 1), title, says, href, radius and colour; links are pairs of places.
import { $, $$ } from "./page.js";

const EDGE = 0.92; // of the canvas that the map fills
const MOST_LABELS = 60;
const MOST_TRIED = 600;

// The golden angle apart: neighbours in number are far apart in colour, however many there are.
export const hueOf = (number) => (number * 137.5) % 360;

export function drawMap(canvas, spots, links = []) {
  const pen = canvas.getContext("2d");
  const view = { x: 0, y: 0, scale: 1 };
  const order = spots.map((_, place) => place).sort((a, b) => spots[b].radius - spots[a].radius);
  const touching = spots.map(() => []);
  for (const [from, to] of links) { touching[from].push(to); touching[to].push(from); }
  let wide = 1;
  let high = 1;
  let chosen = -1;

  const at = (spot) => [
    (EDGE * (spot.x * view.scale + view.x) + 1) * wide / 2,
    (EDGE * (spot.y * view.scale + view.y) + 1) * high / 2,
  ];
  const isSeen = ([x, y]) => x > -20 && y > -20 && x < wide + 20 && y < high + 20;
  const sizeOf = (spot) => Math.min(14, spot.radius * Math.sqrt(Math.max(1, view.scale)));

  function draw() {
    const style = getComputedStyle(document.documentElement);
    const [text, line, strong, ground, lightness] = ["--text", "--dim", "--cyan", "--raised", "--spot"].map((name) => style.getPropertyValue(name));
    pen.clearRect(0, 0, wide, high);
    drawLinks(line, strong);
    for (const [place, spot] of spots.entries()) {
      const [x, y] = at(spot);
      if (!isSeen([x, y])) continue;
      pen.beginPath();
      pen.arc(x, y, sizeOf(spot), 0, 7);
      pen.fillStyle = `hsl(${hueOf(spot.colour)} 55% ${lightness})`;
      pen.fill();
      if (place === chosen) { pen.strokeStyle = strong; pen.lineWidth = 3; pen.stroke(); }
    }
    drawLabels(text, ground);
  }

  function drawLinks(line, strong) {
    pen.lineWidth = 1;
    pen.globalAlpha = links.length > 2000 ? 0.15 : 0.4;
    pen.strokeStyle = line;
    pen.beginPath();
    for (const [from, to] of links) {
      const [a, b] = [at(spots[from]), at(spots[to])];
      if (isSeen(a) || isSeen(b)) { pen.moveTo(...a); pen.lineTo(...b); }
    }
    pen.stroke();
    pen.globalAlpha = 1;
    if (chosen < 0) return;
    pen.strokeStyle = strong;
    pen.beginPath();
    for (const other of touching[chosen]) { pen.moveTo(...at(spots[chosen])); pen.lineTo(...at(spots[other])); }
    pen.stroke();
  }

  // The largest first, each only where no other stands.
  function drawLabels(text, ground) {
    const dots = spots.map((spot) => [...at(spot), sizeOf(spot)]).filter(isSeen);
    const taken = [];
    const isFree = (box) => !taken.some((other) => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3])
      && !dots.some(([x, y, r]) => x + r > box[0] && x - r < box[2] && y + r > box[1] + 3 && y - r < box[3] - 3);
    pen.font = "13px system-ui";
    pen.lineWidth = 4;
    pen.lineJoin = "round";
    const wanted = (chosen < 0 ? order : [chosen, ...touching[chosen], ...order]).slice(0, MOST_TRIED);
    for (const place of wanted) {
      if (taken.length >= MOST_LABELS) break;
      const [x, y] = at(spots[place]);
      if (!isSeen([x, y])) continue;
      const whole = spots[place].title;
      const title = whole.length > 32 ? `${whole.slice(0, 31).trimEnd()}…` : whole;
      const width = pen.measureText(title).width;
      const gap = sizeOf(spots[place]) + 4;
      const left = [x + gap, x - gap - width].find((edge) => edge > 0 && edge + width < wide && isFree([edge, y - 9, edge + width, y + 9]));
      if (left === undefined) continue;
      taken.push([left, y - 9, left + width, y + 9]);
      pen.strokeStyle = ground;
      pen.strokeText(title, left, y + 4);
      pen.fillStyle = text;
      pen.fillText(title, left, y + 4);
    }
  }

  function pointOf(event) {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  function near([x, y]) {
    let best = -1;
    let least = 16;
    for (const [place, spot] of spots.entries()) {
      const [a, b] = at(spot);
      const gap = Math.hypot(a - x, b - y);
      if (gap < least) [best, least] = [place, gap];
    }
    return best;
  }

  function zoom(by, [x, y] = [wide / 2, high / 2]) {
    const scale = Math.min(60, Math.max(0.5, view.scale * by));
    const real = scale / view.scale;
    const [px, py] = [(2 * x / wide - 1) / EDGE, (2 * y / high - 1) / EDGE];
    Object.assign(view, { scale, x: px - (px - view.x) * real, y: py - (py - view.y) * real });
    draw();
  }

  function choose(place) {
    chosen = place;
    if (place >= 0) $("#map-says").textContent = spots[place].says;
    draw();
  }

  // The next spot in the direction of a key, as seen from the chosen one; the largest where none is chosen.
  function step(dx, dy) {
    if (chosen < 0) { choose(order[0] ?? -1); return; }
    const [x, y] = at(spots[chosen]);
    let best = -1;
    let least = Infinity;
    for (const [place, spot] of spots.entries()) {
      const [a, b] = at(spot);
      const along = (a - x) * dx + (b - y) * dy;
      const aside = Math.abs((a - x) * dy) + Math.abs((b - y) * dx);
      if (place === chosen || along <= 0 || along < aside / 2) continue;
      if (along + 2 * aside < least) [best, least] = [place, along + 2 * aside];
    }
    if (best >= 0) choose(best);
    const [a, b] = at(spots[chosen]);
    if (a < 0 || b < 0 || a > wide || b > high) { view.x -= 2 * (a / wide - 0.5) / EDGE; view.y -= 2 * (b / high - 0.5) / EDGE; draw(); }
  }

  const fingers = new Map();
  let moved = 0;
  canvas.addEventListener("pointerdown", (event) => {
    fingers.set(event.pointerId, pointOf(event));
    moved = 0;
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const now = pointOf(event);
    const before = fingers.get(event.pointerId);
    if (!before) {
      const place = near(now);
      canvas.style.cursor = place < 0 ? "" : "pointer";
      if (place >= 0 && place !== chosen) choose(place);
      return;
    }
    const others = [...fingers.entries()].filter(([id]) => id !== event.pointerId).map(([, point]) => point);
    fingers.set(event.pointerId, now);
    moved += Math.hypot(now[0] - before[0], now[1] - before[1]);
    if (others.length) {
      const gap = (point) => Math.hypot(point[0] - others[0][0], point[1] - others[0][1]);
      zoom(gap(now) / Math.max(1, gap(before)), others[0]);
      return;
    }
    view.x += 2 * (now[0] - before[0]) / (EDGE * wide);
    view.y += 2 * (now[1] - before[1]) / (EDGE * high);
    draw();
  });
  const lift = (event) => {
    const isClick = fingers.delete(event.pointerId) && moved < 5 && event.type === "pointerup";
    const place = isClick ? near(pointOf(event)) : -1;
    if (place >= 0) location.href = spots[place].href;
  };
  canvas.addEventListener("pointerup", lift);
  canvas.addEventListener("pointercancel", lift);
  canvas.addEventListener("wheel", (event) => { event.preventDefault(); zoom(event.deltaY < 0 ? 1.15 : 0.87, pointOf(event)); }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const acts = {
      "+": () => zoom(1.2, chosen < 0 ? undefined : at(spots[chosen])),
      "-": () => zoom(0.83, chosen < 0 ? undefined : at(spots[chosen])),
      0: () => { Object.assign(view, { x: 0, y: 0, scale: 1 }); draw(); },
      Enter: () => { if (chosen >= 0) location.href = spots[chosen].href; },
    };
    const act = ways[event.key] ? () => step(...ways[event.key]) : acts[event.key];
    if (!act || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  });
  for (const button of $$("[data-zoom]")) button.addEventListener("click", () => zoom(Number(button.dataset.zoom)));
  document.addEventListener("theme", draw);
  // As many dots as the screen has, however wide the page is.
  new ResizeObserver(() => {
    wide = canvas.clientWidth;
    high = canvas.clientHeight;
    canvas.width = wide * devicePixelRatio;
    canvas.height = high * devicePixelRatio;
    pen.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    draw();
  }).observe(canvas);
  return draw;
}
