// The command palette: pages and what this page can do, then notes by search.
import { $, $$, noteAddress, pause, post } from "./page.js";

const palette = $("#palette");
const field = $("#palette-text");
let choices = []; // [what is shown, what it does]
let chosenAt = 0;
let asking = 0;

export function openPalette() {
  palette.showModal();
  field.value = "";
  show(commands(""));
}

function commands(text) {
  const go = $$(".top nav a, a[data-command]").map((a) => [a.dataset.command || a.textContent, () => { location.href = a.href; }]);
  const press = $$("button[data-command]").map((b) => [b.dataset.command, () => { palette.close(); b.click(); }]);
  return [...go, ...press].filter(([name]) => name.toLowerCase().includes(text));
}

function show(found) {
  choices = found;
  chosenAt = 0;
  $("#palette-list").replaceChildren(...found.map(([name, act], place) => {
    const item = document.createElement("li");
    item.id = `choice-${place}`;
    item.textContent = name;
    item.setAttribute("role", "option");
    item.setAttribute("aria-selected", String(place === 0));
    item.addEventListener("click", act);
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
  if (choices.length) field.setAttribute("aria-activedescendant", `choice-${chosenAt}`);
  else field.removeAttribute("aria-activedescendant");
}

field.addEventListener("input", async () => {
  const text = field.value.trim();
  const wanted = text.toLowerCase();
  show(commands(wanted));
  if (text.length < 2) return;
  const mine = ++asking;
  await pause(150);
  if (mine !== asking) return;
  const found = await post("memory_search", { query: text, maxResults: 8 }).catch(() => null);
  if (mine !== asking || !found) return;
  const paths = new Set(Object.values(found.results).flat().map((each) => each.filePath));
  show([...commands(wanted), ...[...paths].map((path) => [path, () => { location.href = noteAddress(path); }])]);
});
field.addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown") { event.preventDefault(); choose(1); }
  if (event.key === "ArrowUp") { event.preventDefault(); choose(-1); }
  if (event.key === "Enter" && choices[chosenAt]) { event.preventDefault(); choices[chosenAt][1](); }
});
