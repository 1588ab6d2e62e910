// Search as one types: the results alone are asked for, and the address follows, so that it can be kept.
import { $, pause } from "./page.js";

const live = $("[data-live]");
const form = live.form;
let last = 0;

async function ask() {
  const mine = ++last;
  await pause(120);
  if (mine !== last) return;
  const query = new URLSearchParams(new FormData(form));
  const answer = await fetch(`/search?${query}&part=results`).catch(() => null);
  if (mine !== last || !answer || !answer.ok) return;
  $("#results").innerHTML = await answer.text();
  history.replaceState(null, "", `/search?${query}`);
}

live.addEventListener("input", ask);
form.addEventListener("change", ask);
