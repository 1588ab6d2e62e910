// Words that an edit adds or takes away, marked in the text that takes the place of the other.
import { $, $$ } from "./page.js";

const MOST = 4e6; // cells of the table; beyond that the text stays as it is

for (const box of $$(".words")) {
  const before = box.dataset.find.split(/(\s+)/);
  const after = box.dataset.replace.split(/(\s+)/);
  if (before.length * after.length <= MOST) $("pre", box).replaceChildren(...marked(before, after));
}

function marked(before, after) {
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
