// What makes the pages quicker: keys, a palette, search as one types, jobs that are followed, a map to pan. All of it is
// an addition: without this file every page works by links and forms.
"use strict";

const $ = (selector, from = document) => from.querySelector(selector);
const $$ = (selector, from = document) => [...from.querySelectorAll(selector)];

for (const link of $$(".top nav a")) {
  if (link.pathname === location.pathname) link.setAttribute("aria-current", "page");
}

$("#theme").addEventListener("click", () => {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const now = document.documentElement.dataset.theme || (dark ? "dark" : "light");
  const next = now === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  localStorage.setItem("theme", next);
  document.dispatchEvent(new Event("theme"));
});

// What scrolls sideways can be scrolled by keys.
for (const box of $$(".prose pre, .prose table")) {
  if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
}

for (const button of $$("[data-open]")) {
  button.addEventListener("click", () => $(`#${button.dataset.open}`).showModal());
}
for (const button of $$("[data-close]")) {
  button.addEventListener("click", () => button.closest("dialog").close());
}

// Keys: / searches, Ctrl-K or : opens the palette, g and a letter goes to a page.
let went = false;
document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === "k") {
    event.preventDefault();
    openPalette();
    return;
  }
  if ((event.ctrlKey || event.metaKey) && event.key === "s" && $("[data-key-save]")) {
    event.preventDefault();
    $("[data-key-save]").click();
    return;
  }
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) || event.target.closest("dialog");
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/") {
    event.preventDefault();
    ($("[data-live]") || $("#find")).focus();
  } else if (event.key === ":") {
    event.preventDefault();
    openPalette();
  } else if (event.key === "g") {
    went = true;
    setTimeout(() => { went = false; }, 1200);
  } else {
    const link = $$("[data-key]").find((each) => each.dataset.key === event.key && (went || !each.closest(".top")));
    if (link) link.click();
    went = false;
  }
});

// The palette: pages, then notes by search.
const palette = $("#palette");
let choices = [];
let chosenAt = 0;

function openPalette() {
  palette.showModal();
  $("#palette-text").value = "";
  showChoices(pageChoices(""));
}

function pageChoices(text) {
  return $$(".top nav a").filter((a) => a.textContent.toLowerCase().includes(text)).map((a) => [a.textContent, a.href]);
}

function showChoices(found) {
  choices = found;
  chosenAt = 0;
  const list = $("#palette-list");
  list.replaceChildren(...found.map(([name, href], place) => {
    const item = document.createElement("li");
    item.id = `choice-${place}`;
    item.textContent = name;
    item.setAttribute("role", "option");
    item.setAttribute("aria-selected", String(place === 0));
    item.addEventListener("click", () => { location.href = href; });
    return item;
  }));
  pointAt();
}

function choose(step) {
  if (!choices.length) return;
  const items = $$("#palette-list li");
  items[chosenAt].setAttribute("aria-selected", "false");
  chosenAt = (chosenAt + step + choices.length) % choices.length;
  items[chosenAt].setAttribute("aria-selected", "true");
  items[chosenAt].scrollIntoView({ block: "nearest" });
  pointAt();
}

// Which match the keys are at, for whoever hears the page.
function pointAt() {
  const field = $("#palette-text");
  if (choices.length) field.setAttribute("aria-activedescendant", `choice-${chosenAt}`);
  else field.removeAttribute("aria-activedescendant");
}

let asking = 0;
$("#palette-text").addEventListener("input", async (event) => {
  const text = event.target.value.trim().toLowerCase();
  showChoices(pageChoices(text));
  if (text.length < 2) return;
  const mine = ++asking;
  await pause(150);
  if (mine !== asking) return;
  const found = await post("memory_search", { query: text, maxResults: 8 }).catch(() => null);
  if (mine !== asking || !found) return;
  const notes = Object.values(found.results).flat().map((each) => [each.filePath, `/note/${each.filePath.split("/").map(encodeURIComponent).join("/")}`]);
  showChoices([...pageChoices(text), ...notes]);
});
$("#palette-text").addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown") { event.preventDefault(); choose(1); }
  if (event.key === "ArrowUp") { event.preventDefault(); choose(-1); }
  if (event.key === "Enter" && choices[chosenAt]) location.href = choices[chosenAt][1];
});

// Search as one types.
const live = $("[data-live]");
if (live) {
  let last = 0;
  const form = live.form;
  const ask = async () => {
    const mine = ++last;
    await pause(120);
    if (mine !== last) return;
    const query = new URLSearchParams(new FormData(form));
    const answer = await fetch(`/search?${query}&part=results`).catch(() => null);
    if (mine !== last || !answer || !answer.ok) return;
    $("#results").innerHTML = await answer.text();
    history.replaceState(null, "", `/search?${query}`);
  };
  live.addEventListener("input", ask);
  form.addEventListener("change", ask);
}

// Long work: a job, followed by server-sent events.
for (const form of $$("form[data-job]")) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const name = form.dataset.job;
    const body = requestOf(form, name);
    const box = $("#job");
    box.hidden = false;
    $("button", form).disabled = true;
    say(box, "Started …");
    try {
      const started = await post(name, body, { prefer: "respond-async" });
      await follow(started, box, form, name);
    } catch (error) {
      say(box, error.message);
      $("button", form).disabled = false;
    }
  });
}

function requestOf(form, name) {
  const token = form.dataset.token;
  if (name === "inbox_integrate") return token ? { dryRun: true, token } : { dryRun: true };
  if (name === "import") {
    const paths = new FormData(form).getAll("paths");
    return token ? { paths, token } : { paths };
  }
  return {};
}

async function follow(started, box, form, name) {
  if (!started.events) return finish(started, box, form, name);
  const source = new EventSource(started.events);
  source.addEventListener("progress", (event) => {
    const stages = JSON.parse(event.data);
    const lines = stages.map((each) => (each.total ? `${each.stage}: ${each.done} of ${each.total}` : each.stage));
    $(".explored", box).replaceChildren(...lines.map((line) => Object.assign(document.createElement("li"), { textContent: line })));
    const now = stages.at(-1);
    if (now && now.total) { $("progress", box).max = now.total; $("progress", box).value = now.done; }
  });
  source.addEventListener("answer", (event) => { source.close(); finish(JSON.parse(event.data), box, form, name); });
  source.addEventListener("error", (event) => {
    if (!event.data) return;
    source.close();
    const error = JSON.parse(event.data);
    say(box, `${error.message} ${error.hint}`);
    $("button", form).disabled = false;
  });
}

function finish(answer, box, form, name) {
  $("button", form).disabled = false;
  if (answer.quote) {
    const quote = answer.quote;
    const usd = quote.usd ? `, $${quote.usd[0].toFixed(2)} to $${quote.usd[1].toFixed(2)}` : "";
    say(box, `${quote.model}: ${quote.tokens[0]} to ${quote.tokens[1]} tokens${usd}. Press again to go on; nothing was spent.`);
    form.dataset.token = quote.token;
    return;
  }
  if (name === "inbox_integrate" && answer.run) location.href = `/run/${answer.run}`;
  else if (form.dataset.then) location.href = form.dataset.then;
  else location.reload();
}

const say = (box, text) => { $("[role=status]", box).textContent = text; };
const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });

async function post(name, body, headers = {}) {
  const answer = await fetch(`/api/${name}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  const found = await answer.json();
  if (!answer.ok) throw new Error([found.error.message, found.error.hint].filter(Boolean).join(" "));
  return found;
}

// Text dropped on a box goes into it.
const drop = $("[data-drop]");
if (drop) {
  drop.addEventListener("dragover", (event) => { event.preventDefault(); drop.classList.add("dropping"); });
  drop.addEventListener("dragleave", () => drop.classList.remove("dropping"));
  drop.addEventListener("drop", async (event) => {
    event.preventDefault();
    drop.classList.remove("dropping");
    const parts = [event.dataTransfer.getData("text/plain")];
    for (const file of event.dataTransfer.files) parts.push(await file.text());
    drop.value = [drop.value, ...parts].filter((part) => part.trim()).join("\n\n");
  });
}

// The preview of an edit.
const preview = $("[data-preview]");
if (preview) {
  preview.addEventListener("click", async () => {
    const box = $("#preview");
    const path = location.pathname.replace(/^\/edit\//, "");
    const answer = await fetch(`/preview/${path}`, { method: "POST", body: new URLSearchParams({ content: $("#content").value }) });
    box.innerHTML = await answer.text();
    box.hidden = false;
  });
}

// Words that an edit adds or takes away, marked.
for (const box of $$(".words")) {
  const before = box.dataset.find.split(/(\s+)/);
  const after = box.dataset.replace.split(/(\s+)/);
  if (before.length * after.length > 4e6) continue;
  const pre = $("pre", box);
  pre.replaceChildren(...words(before, after));
}

function words(before, after) {
  const table = Array.from({ length: before.length + 1 }, () => new Uint32Array(after.length + 1));
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      table[i][j] = before[i] === after[j] ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
    }
  }
  const parts = [];
  const add = (kind, text) => {
    const last = parts.at(-1);
    if (last && last.kind === kind) last.text += text;
    else parts.push({ kind, text });
  };
  let i = 0;
  let j = 0;
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) { add("", before[i]); i++; j++; }
    else if (j < after.length && (i === before.length || table[i][j + 1] >= table[i + 1][j])) { add("ins", after[j]); j++; }
    else { add("del", before[i]); i++; }
  }
  return parts.map(({ kind, text }) => {
    if (!kind) return document.createTextNode(text);
    return Object.assign(document.createElement(kind), { textContent: text });
  });
}

// The map of themes: pan, zoom, click.
const canvas = $("#map");
if (canvas) {
  const { notes } = JSON.parse($("#spots").textContent);
  const pen = canvas.getContext("2d");
  const view = { x: 0, y: 0, scale: 1 };
  let wide = 1;
  let high = 1;
  const at = (note) => [
    (0.92 * (note.x * view.scale + view.x) + 1) * wide / 2,
    (0.92 * (note.y * view.scale + view.y) + 1) * high / 2,
  ];
  const colour = (theme) => `hsl(${(theme * 137.5) % 360} 60% ${getComputedStyle(document.documentElement).colorScheme === "light" ? 38 : 68}%)`;
  const draw = () => {
    pen.clearRect(0, 0, wide, high);
    for (const note of notes) {
      const [x, y] = at(note);
      pen.beginPath();
      pen.arc(x, y, Math.min(7, 3 + view.scale), 0, 7);
      pen.fillStyle = colour(note.theme);
      pen.fill();
    }
    if (view.scale > 3 || notes.length < 60) {
      pen.fillStyle = getComputedStyle(document.body).color;
      pen.font = "13px system-ui";
      for (const note of notes) {
        const [x, y] = at(note);
        if (x < 0 || y < 0 || x > wide || y > high) continue;
        const title = note.title.slice(0, 28);
        const room = x + 10 + pen.measureText(title).width < wide;
        pen.textAlign = room ? "left" : "right";
        pen.fillText(title, x + (room ? 9 : -9), y + 4);
      }
    }
  };
  const near = (event) => {
    const box = canvas.getBoundingClientRect();
    const x = event.clientX - box.left;
    const y = event.clientY - box.top;
    const gap = (note) => Math.hypot(at(note)[0] - x, at(note)[1] - y);
    const best = notes.reduce((a, b) => (gap(b) < gap(a) ? b : a), notes[0]);
    return best && gap(best) < 14 ? best : null;
  };
  const zoom = (by) => { view.scale = Math.min(40, Math.max(0.5, view.scale * by)); view.x *= by; view.y *= by; draw(); };
  let dragged = null;
  let moved = 0;
  canvas.addEventListener("pointerdown", (event) => { dragged = [event.clientX, event.clientY]; moved = 0; canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener("pointermove", (event) => {
    const note = near(event);
    if (note) $("#map-says").textContent = `${note.title} (${note.path})`;
    if (!dragged) return;
    const box = canvas.getBoundingClientRect();
    view.x += 2 * (event.clientX - dragged[0]) / (0.92 * box.width);
    view.y += 2 * (event.clientY - dragged[1]) / (0.92 * box.height);
    moved += Math.abs(event.clientX - dragged[0]) + Math.abs(event.clientY - dragged[1]);
    dragged = [event.clientX, event.clientY];
    draw();
  });
  canvas.addEventListener("pointerup", (event) => {
    dragged = null;
    const note = moved < 5 ? near(event) : null;
    if (note) location.href = `/nav?step=in&node=${note.node}`;
  });
  canvas.addEventListener("wheel", (event) => { event.preventDefault(); zoom(event.deltaY < 0 ? 1.15 : 0.87); }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: [0.1, 0], ArrowRight: [-0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] };
    if (steps[event.key]) { event.preventDefault(); view.x += steps[event.key][0]; view.y += steps[event.key][1]; draw(); }
    if (event.key === "+") { event.stopPropagation(); zoom(1.2); }
    if (event.key === "-") { event.stopPropagation(); zoom(0.83); }
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
}
