// Message bubbles of the chat page.

import { allowWeb, closed, parse } from "./markup.js";
import { element, render } from "./render.js";

/** A message of the assistant or a person of the shop, whose text may grow. */
export class Bubble {
  #words;
  #allow;
  #shown = [];
  #drawing = 0;

  constructor(words, allow, { id, kind, sender = "assistant", text = "" }) {
    this.#words = words;
    // Staff may link to any site; the model only to the shop's list of hosts.
    this.#allow = sender === "agent" ? allowWeb(location.href) : allow;
    this.text = text;
    this.kind = kind;
    // `complete`: no more text follows. `whole`: the text was not cut.
    this.complete = false;
    this.whole = false;
    this.sender = sender;
    this.who = element("span", { class: sender === "agent" ? "by" : "by unseen" });
    if (sender === "agent") words.put(this.who, "agent");
    else this.who.textContent = words.name;
    this.body = element("div", { class: "bubble" });
    this.element = element("div", { class: `message ${sender} ${kind}`, "data-message": id }, this.who, this.body);
    this.#draw();
  }

  append(text) {
    this.element.classList.add("growing");
    this.text += text;
    // Draw once per animation frame, however many deltas arrive.
    this.#drawing ||= requestAnimationFrame(() => this.#draw());
  }

  /** Completes the message and shows its name, sources and whether it was cut. */
  end(metadata = {}) {
    this.complete = true;
    this.whole = !metadata.cut;
    this.element.classList.remove("growing");
    this.#draw();
    if (this.sender === "agent" && metadata.name) this.#words.put(this.who, "agent_named", { agent: metadata.name });
    if (metadata.cut) this.mark(metadata.cut_reason === "cancelled" ? "stopped" : "cut");
    if (metadata.sources?.length) this.element.append(this.#sources(metadata.sources));
  }

  /** Shows a note under the message that says why its text was cut. */
  mark(key) {
    this.note ??= this.element.appendChild(element("p", { class: "note" }));
    this.#words.put(this.note, key);
  }

  #draw() {
    cancelAnimationFrame(this.#drawing);
    this.#drawing = 0;
    const text = this.whole ? this.text : closed(this.text);
    this.#shown = render(this.body, parse(text, this.#allow), this.#shown);
  }

  #sources(items) {
    // A catalogue row's section is its category, with which most titles begin.
    const names = new Set(items.map(({ title, section }) => (section && !title.includes(section) ? `${title} – ${section}` : title)));
    const summary = element("summary");
    this.#words.put(summary, "sources", { count: names.size });
    const list = element("ul", {}, ...[...names].map((name) => element("li", { dir: "auto" }, name)));
    return element("details", { class: "sources" }, summary, list);
  }
}

/** A customer's message, shown exactly as written. */
export class OwnBubble {
  #words;

  constructor(words, { id, text }) {
    this.#words = words;
    this.text = text;
    const who = element("span", { class: "by unseen" });
    words.put(who, "you");
    const body = element("div", { class: "bubble" }, element("p", { dir: "auto" }, text));
    this.element = element("div", { class: "message user" }, who, body);
    if (id) this.element.dataset.message = id;
    this.complete = true;
  }

  /** Shows the delivery state under the message, with a button that calls `again` if given. */
  state(key, values, again) {
    this.note?.remove();
    this.note = undefined;
    if (!key) return;
    const words = element("span");
    this.#words.put(words, key, values);
    this.note = element("p", { class: again ? "note trouble" : "note" }, words);
    if (again) this.note.append(button(this.#words, "send_again", again));
    this.element.append(this.note);
  }
}

/** Returns a button with the text of `key`. */
export function button(words, key, press) {
  const made = element("button", { type: "button", class: "small" });
  words.put(made, key);
  made.addEventListener("click", press);
  return made;
}
