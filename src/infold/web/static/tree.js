// A memory tree: parts of it fold, arrow keys go through it. What is folded is remembered while the window is open.
import { $, $$ } from "./page.js";

const tree = $(".tree");
if (tree) begin(tree);

function begin(top) {
  const name = `folded ${top.dataset.root}`;
  const folded = new Set(JSON.parse(sessionStorage.getItem(name) || "[]"));
  const linkOf = (item) => $(":scope > .node", item);
  const below = (item) => $(":scope > ul", item);

  function fold(item, isFolded) {
    const id = linkOf(item).id;
    if (isFolded) folded.add(id);
    else folded.delete(id);
    sessionStorage.setItem(name, JSON.stringify([...folded]));
    below(item).hidden = isFolded;
    const button = $(":scope > .fold", item);
    button.textContent = isFolded ? "▸" : "▾";
    button.setAttribute("aria-expanded", String(!isFolded));
  }

  const inner = $$("li", top).filter((item) => linkOf(item) && below(item));
  for (const item of inner) {
    const button = Object.assign(document.createElement("button"), { type: "button", className: "fold" });
    button.setAttribute("aria-label", `What is below ${linkOf(item).id.slice(2)}`);
    button.addEventListener("click", () => fold(item, !below(item).hidden));
    item.prepend(button);
    fold(item, folded.has(linkOf(item).id) && !$("[aria-current]", below(item)));
  }

  const shown = () => $$(".node", top).filter((link) => link.checkVisibility());
  top.addEventListener("keydown", (event) => {
    const link = event.target.closest(".node");
    if (!link || event.altKey || event.ctrlKey || event.metaKey) return;
    const item = link.parentElement;
    const links = shown();
    const at = links.indexOf(link);
    const canFold = below(item) !== null;
    const acts = {
      ArrowDown: () => links[at + 1]?.focus(),
      ArrowUp: () => links[at - 1]?.focus(),
      Home: () => links[0].focus(),
      End: () => links.at(-1).focus(),
      ArrowRight: () => (canFold && below(item).hidden ? fold(item, false) : links[at + 1]?.focus()),
      ArrowLeft: () => (canFold && !below(item).hidden ? fold(item, true) : item.parentElement.closest("li")?.querySelector(".node").focus()),
    };
    if (!acts[event.key]) return;
    event.preventDefault();
    acts[event.key]();
  });
  const open = $("[aria-current]", top);
  if (open) open.focus({ preventScroll: true });
}
