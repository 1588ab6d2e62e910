// What the scripts of all pages share.
export const $ = (selector, from = document) => from.querySelector(selector);
export const $$ = (selector, from = document) => [...from.querySelectorAll(selector)];
export const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });
export const noteAddress = (path) => `/note/${path.split("/").map(encodeURIComponent).join("/")}`;

export async function post(name, body, headers = {}) {
  const answer = await fetch(`/api/${name}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  const found = await answer.json();
  if (!answer.ok) throw new Error([found.error.message, found.error.hint].filter(Boolean).join(" "));
  return found;
}
