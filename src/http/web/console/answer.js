// The form for a person's answer. A draft is stored until it is sent, with the key of its last request: that request may still
// run, or its response was lost.

import { ask, memory, settings, words } from "./desk.js";
import { attempt, enable, labelled, textElement } from "./parts.js";
import { element, submitOnEnter } from "../assets/render.js";
import { newKey } from "../assets/request.js";

export class Answer {
  #path;
  #draft;
  // The text that is being sent, and the one that failed, each with its idempotency key.
  #sending;
  #failed;
  #shown;
  #wrong = element("div");
  #hint = element("p", { class: "quiet", role: "status" });

  constructor(conversation) {
    this.#path = `/console/api/conversations/${encodeURIComponent(conversation)}/answers`;
    this.#draft = `draft:${conversation}`;
    this.field = labelled(labelled(element("textarea", { rows: "2", dir: "auto" }), "answer.field"), "answer.placeholder", "placeholder");
    const { text = "", entry } = memory.get(this.#draft) ?? {};
    this.field.value = text;
    this.#failed = entry;
    this.send = textElement("button", "answer.send", undefined, { type: "submit", class: "button strong" });
    this.form = element("form", { class: "answer", novalidate: true }, this.field, this.send);
    this.element = element("footer", { class: "answering" });
    this.field.addEventListener("input", () => this.#changed());
    submitOnEnter(this.field);
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#send();
    });
    this.#changed();
  }

  /** Shows the form, or why the person cannot answer. */
  use(status, isMine, agent) {
    const state = `${isMine} ${status} ${agent}`;
    if (state === this.#shown) return;
    this.#shown = state;
    if (isMine) this.element.replaceChildren(this.#wrong, this.form, this.#hint);
    else this.element.replaceChildren(textElement("p", `answer.${status}`, { name: agent ?? "" }));
  }

  #changed() {
    const count = [...this.field.value.trim()].length;
    const tooLong = count > settings.text_max_chars;
    const text = joined(this.#sending?.text, this.field.value);
    memory.set(this.#draft, text ? { text, entry: this.#sending ?? this.#failed } : undefined);
    if (tooLong) words.put(this.#hint, "answer.too_long", { count, max: settings.text_max_chars });
    else words.clear(this.#hint);
    this.field.setAttribute("aria-invalid", String(tooLong));
    enable(this.send, count > 0 && !tooLong && !this.#sending);
  }

  // The field is cleared at once, so that another answer can be written during the request.
  async #send() {
    this.field.focus();
    if (this.send.getAttribute("aria-disabled") === "true") return;
    const written = this.field.value.trim();
    // The server may have stored a text although its response was lost. Retry it with the same key, before any added text.
    const isAgain = this.#failed && (written === this.#failed.text || written.startsWith(`${this.#failed.text}\n`));
    const entry = isAgain ? this.#failed : { text: written, key: newKey() };
    const rest = written.slice(entry.text.length).trim();
    const sending = attempt(this.send, this.#wrong, () => ask("POST", this.#path, { text: entry.text }, { "idempotency-key": entry.key }));
    this.#sending = entry;
    this.field.value = rest;
    this.#changed();
    const sent = await sending;
    this.#sending = undefined;
    this.#failed = sent ? undefined : entry;
    if (!sent) this.field.value = joined(entry.text, this.field.value);
    this.#changed();
    if (sent && rest && this.field.value.trim() === rest) await this.#send();
  }
}

const joined = (...texts) => texts.filter(Boolean).join("\n");
