// Boxes to write in: text and files dropped on one go into it, and a note is shown as it will look.
import { $ } from "./page.js";

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

const preview = $("[data-preview]");
if (preview) {
  preview.addEventListener("click", async () => {
    const box = $("#preview");
    const path = location.pathname.replace(/^\/edit\//, "");
    const answer = await fetch(`/preview/${path}`, { method: "POST", body: new URLSearchParams({ content: $("#content").value }) });
    box.innerHTML = await answer.text();
    box.hidden = false;
    box.scrollIntoView({ block: "nearest" });
  });
}

// A page that is left with text that was not saved asks first.
const written = $("#content");
if (written) {
  let saved = written.value;
  written.form.addEventListener("submit", () => { saved = written.value; });
  addEventListener("beforeunload", (event) => { if (written.value !== saved) event.preventDefault(); });
}
