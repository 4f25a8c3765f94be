// Follows what happens in the test channel, and sends forms without leaving the page. The server writes every message.
"use strict";
const list = document.getElementById("messages");
const progress = document.getElementById("progress");
const fault = document.getElementById("fault");
const text = document.getElementById("text");
const write = document.getElementById("write");
let after = list.dataset.after;

function made(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content.firstElementChild;
}

function beside(aside) {
  const message = document.getElementById(`m-${aside.dataset.beside}`);
  if (message) message.querySelector(".asides").append(aside);
}

// What somebody is writing or has opened in a message outlives a change of it.
function keep(old, fresh) {
  for (const aside of old.querySelectorAll(".asides > *")) fresh.querySelector(".asides")?.append(aside);
  const opened = [...old.querySelectorAll("details")];
  [...fresh.querySelectorAll("details")].forEach((each, place) => { each.open = opened[place]?.open ?? false; });
  const written = [...old.querySelectorAll("textarea, select")];
  [...fresh.querySelectorAll("textarea, select")].forEach((each, place) => { if (written[place]) each.value = written[place].value; });
}

function show({ id, html }) {
  const isLow = window.innerHeight + window.scrollY > document.body.scrollHeight - 160;
  const old = document.getElementById(`m-${id}`);
  const fresh = made(html);
  if (!fresh) {
    old?.remove();
  } else if (old) {
    const place = [...old.querySelectorAll("button, summary, textarea, input, select")].indexOf(document.activeElement);
    if (!fresh.dataset.beside) keep(old, fresh);
    old.replaceWith(fresh);
    if (place >= 0) fresh.querySelectorAll("button, summary, textarea, input, select")[place]?.focus();
  } else if (fresh.dataset.beside) {
    beside(fresh);
  } else {
    list.append(fresh);
  }
  if (isLow) write.scrollIntoView({ block: "end" });
}

function follow() {
  const source = new EventSource(`${list.dataset.events}&after=${encodeURIComponent(after)}`);
  const on = (kind, act) => source.addEventListener(kind, (event) => {
    const content = JSON.parse(event.data);
    after = content.after;
    act(content);
  });
  on("message", show);
  on("progress", (content) => { progress.textContent = content.text; });
  on("restart", () => location.reload());
  source.addEventListener("error", () => { source.close(); setTimeout(follow, 2000); });
}

async function send(form, button) {
  const content = new FormData(form, button);
  content.set("live", "yes");
  fault.hidden = true;
  try {
    const response = await fetch(form.action, { method: "POST", body: new URLSearchParams(content) });
    if (response.status === 204) return true;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    fault.textContent = page.querySelector(".notice.fault")?.textContent ?? "That was not taken. Load the page again.";
  } catch {
    fault.textContent = "The bot cannot be reached.";
  }
  fault.hidden = false;
  return false;
}

// A form in a message, once it is taken: the message may have been written anew meanwhile.
function fold(id, place) {
  const details = id && document.getElementById(id)?.querySelectorAll("details")[place];
  if (!details) return;
  details.open = false;
  for (const each of details.querySelectorAll("textarea")) each.value = "";
}

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!form.matches("[data-live]")) return;
  event.preventDefault();
  const card = form.closest("[id^=m-]");
  const place = card ? [...card.querySelectorAll("details")].indexOf(form.closest("details")) : -1;
  const sending = send(form, event.submitter);
  const was = text.value;
  if (form === write) text.value = "";
  const isTaken = await sending;
  if (isTaken) fold(card?.id, place);
  else if (form === write && !text.value) text.value = was;
});

text.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    if (text.value.trim()) write.requestSubmit();
  }
});

for (const each of document.querySelectorAll(".persona select")) each.addEventListener("change", () => each.form.requestSubmit());
for (const each of document.querySelectorAll("#asides-at-first > *")) beside(each);
write.scrollIntoView({ block: "end" });
follow();
