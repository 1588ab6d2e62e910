// Every page: the theme, keys, dialogs and the palette. Reading, searching, editing and planning work without it.
import { $, $$ } from "./page.js";
import { openPalette } from "./palette.js";

// Pages that belong to one of those that are always named.
const ABOVE = { note: "notebook", folder: "notebook", edit: "notebook", run: "runs", browse: "nav" };
const first = location.pathname.split("/")[1];
for (const link of $$(".top nav a")) {
  if (link.pathname === `/${ABOVE[first] || first}`) link.setAttribute("aria-current", "page");
}
$(".top nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });

$("#theme").addEventListener("click", () => {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const now = document.documentElement.dataset.theme || (dark ? "dark" : "light");
  const next = now === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  localStorage.setItem("theme", next);
  document.dispatchEvent(new Event("theme"));
});

// What scrolls sideways can be scrolled by keys.
for (const box of $$(".prose pre, .prose table, .prose math[display=block], .scrolls")) {
  if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
}

for (const button of $$("[data-open]")) {
  button.addEventListener("click", () => $(`#${button.dataset.open}`).showModal());
}
for (const button of $$("[data-close]")) {
  button.addEventListener("click", () => button.closest("dialog").close());
}

// Keys: / searches, Ctrl-K or : opens the palette, ? shows the keys, g and a letter goes to a page, Ctrl-S saves.
let went = false;
document.addEventListener("keydown", (event) => {
  const withCtrl = event.ctrlKey || event.metaKey;
  if (withCtrl && event.key === "k") {
    event.preventDefault();
    openPalette();
    return;
  }
  if (withCtrl && event.key === "s" && $("[data-key-save]")) {
    event.preventDefault();
    $("[data-key-save]").click();
    return;
  }
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) || event.target.closest("dialog");
  if (typing || withCtrl || event.altKey) return;
  if (event.key === "/") {
    event.preventDefault();
    ($("[data-live]") || $("#find")).focus();
  } else if (event.key === ":") {
    event.preventDefault();
    openPalette();
  } else if (event.key === "?") {
    $("#keys").showModal();
  } else if (event.key === "g") {
    went = true;
    setTimeout(() => { went = false; }, 1200);
  } else {
    const link = $$("[data-key]").find((each) => each.dataset.key === event.key && (went || !each.closest(".top")));
    if (link) link.click();
    went = false;
  }
});
