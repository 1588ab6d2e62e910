// Long work: a form with data-job starts it, server-sent events tell how far it is. What would cost is quoted first,
// and the same button agrees to it.
import { $, $$, post } from "./page.js";

for (const form of $$("form[data-job]")) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const box = $(form.dataset.box || "#job");
    const button = event.submitter || $("button", form);
    const name = form.dataset.job;
    box.hidden = false;
    button.disabled = true;
    say(box, "Started …");
    try {
      const started = await post(name, requestOf(form, name), { prefer: "respond-async" });
      const answer = started.events ? await followed(started.events, box) : started;
      finish(answer, box, form, name);
    } catch (error) {
      say(box, error.message);
    }
    button.disabled = false;
  });
}

// What is asked: the form's fields, and the token of an estimate that was shown.
function requestOf(form, name) {
  const body = {};
  const fields = new FormData(form);
  for (const key of new Set(fields.keys())) {
    const field = form.elements[key];
    const kind = (field.dataset || field[0].dataset).kind || (field.length ? "list" : "");
    if (kind === "list") body[key] = fields.getAll(key);
    else if (kind === "lines") body[key] = fields.get(key).split(/\s+/).filter(Boolean);
    else if (kind === "flag") body[key] = true;
    else body[key] = fields.get(key);
  }
  if (name === "inbox_integrate") body.dryRun = true;
  if (form.dataset.token) body.token = form.dataset.token;
  return body;
}

function followed(address, box) {
  return new Promise((done, failed) => {
    const source = new EventSource(address);
    source.addEventListener("progress", (event) => show(JSON.parse(event.data), box));
    source.addEventListener("happened", (event) => {
      const line = Object.assign(document.createElement("li"), { textContent: JSON.parse(event.data) });
      $(".happened", box).append(line);
      line.scrollIntoView({ block: "nearest" });
    });
    source.addEventListener("answer", (event) => { source.close(); done(JSON.parse(event.data)); });
    source.addEventListener("error", (event) => {
      if (!event.data) return; // the connection was cut: the browser asks again
      source.close();
      const error = JSON.parse(event.data);
      failed(new Error([error.message, error.hint].filter(Boolean).join(" ")));
    });
  });
}

function show(stages, box) {
  const lines = stages.map((each) => (each.total ? `${each.stage}: ${each.done} of ${each.total}` : each.stage));
  $(".explored", box).replaceChildren(...lines.map((line) => Object.assign(document.createElement("li"), { textContent: line })));
  const now = stages.at(-1);
  if (!now) return;
  say(box, lines.at(-1));
  if (now.total) Object.assign($("progress", box), { max: now.total, value: now.done });
}

function finish(answer, box, form, name) {
  if (answer.quote) {
    const { model, tokens, usd, token } = answer.quote;
    const price = usd ? `, $${usd[0].toFixed(2)} to $${usd[1].toFixed(2)}` : "";
    say(box, `${model}: ${tokens[0]} to ${tokens[1]} tokens${price}. Press again to go on; nothing was spent.`);
    form.dataset.token = token;
    return;
  }
  if (name === "inbox_integrate" && answer.run) location.href = `/run/${answer.run}`;
  else if (form.dataset.then) location.href = form.dataset.then;
  else location.reload();
}

const say = (box, text) => { $("[role=status]", box).textContent = text; };
